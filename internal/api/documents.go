package api

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	maxSource  = 512 << 20 // bytes of one source
	maxObjects = 1_000_000 // in all sources together
)

// document is one document of a source, not yet decoded.
type document struct {
	number int // from 1; documents that say nothing are not counted
	line   int // of the source, at which text begins, from 1
	text   []byte
}

// plainText brings a source to UTF-8 without a byte order mark. Windows shells
// write UTF-16 when output is redirected. problem says why the source cannot be
// read.
func plainText(data []byte, most int) (text []byte, problem string) {
	if len(data) > most {
		return nil, "is " + strconv.Itoa(len(data)>>20) + " MiB long; the most is " + strconv.Itoa(most>>20) + " MiB: split it into several files"
	}
	switch {
	case bytes.HasPrefix(data, []byte{0xEF, 0xBB, 0xBF}):
		data = data[3:]
	case bytes.HasPrefix(data, []byte{0xFF, 0xFE}):
		data = fromUTF16(data[2:], binary.LittleEndian)
	case bytes.HasPrefix(data, []byte{0xFE, 0xFF}):
		data = fromUTF16(data[2:], binary.BigEndian)
	}
	if !utf8.Valid(data) {
		return nil, "line " + strconv.Itoa(firstInvalid(data)) + ": is not text in UTF-8; save it with that encoding"
	}
	return data, ""
}

func fromUTF16(data []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = order.Uint16(data[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// firstInvalid is the line of the first byte that is not UTF-8.
func firstInvalid(data []byte) int {
	line := 1
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		data = data[n:]
	}
	return line
}

// documents cuts a source at the markers that stand alone on a line, --- and
// ..., and gives each document that says something to yield, until it returns
// false. A JSON text cannot hold a marker: its strings have no line breaks.
func documents(data []byte, yield func(document) bool) {
	number, line := 0, 1
	for len(data) > 0 {
		end, after := nextMarker(data)
		if text := data[:end]; !isBlank(text) {
			number++
			if !yield(document{number: number, line: line, text: text}) {
				return
			}
		}
		line += bytes.Count(data[:after], []byte{'\n'})
		data = data[after:]
	}
}

// nextMarker finds the next document marker: where the text before it ends and
// where the text after it begins.
func nextMarker(data []byte) (end, after int) {
	for from := 0; from < len(data); {
		if isMarker(data[from:]) {
			after = from + 3
			for after < len(data) && (data[after] == ' ' || data[after] == '\t') {
				after++
			}
			return from, after
		}
		i := bytes.IndexByte(data[from:], '\n')
		if i < 0 {
			break
		}
		from += i + 1
	}
	return len(data), len(data)
}

// isMarker tells whether a line begins with a document marker.
func isMarker(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("---")) && !bytes.HasPrefix(line, []byte("...")) {
		return false
	}
	return len(line) == 3 || line[3] == '\n' || line[3] == '\r' || line[3] == ' ' || line[3] == '\t'
}

// isBlank tells whether a text holds nothing but white space, comments and YAML
// directives.
func isBlank(text []byte) bool {
	return len(afterComments(text)) == 0
}

// afterComments is the text without white space, comments and directives at its
// beginning.
func afterComments(text []byte) []byte {
	start := true // of a line, where alone a directive may stand
	for len(text) > 0 {
		switch c := text[0]; {
		case c == '#' || c == '%' && start:
			i := bytes.IndexByte(text, '\n')
			if i < 0 {
				return nil
			}
			text = text[i:]
			continue
		case c == '\n':
			start = true
		case c == ' ' || c == '\t' || c == '\r':
			start = false
		default:
			return text
		}
		text = text[1:]
	}
	return nil
}

// looksJSON tells whether a document is JSON rather than YAML, which in its flow
// style begins with the same brackets: what stands inside of them decides.
func looksJSON(text []byte) bool {
	text = afterComments(text)
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return false
	}
	s := scanner{data: text}
	c, key := s.peek(), false
	for c == '{' || c == '[' {
		key = c == '{'
		s.pos++
		c = s.peek()
	}
	switch c {
	case '"', '}', ']', 0:
		return true
	}
	return !key && (startsNumber(c) || bytes.HasPrefix(text[s.pos:], []byte("null")))
}

// position gives the line and the column of an offset, both from 1.
func position(text []byte, offset int) (line, column int) {
	offset = min(offset, len(text))
	line = 1 + bytes.Count(text[:offset], []byte{'\n'})
	column = 1 + utf8.RuneCount(text[bytes.LastIndexByte(text[:offset], '\n')+1:offset])
	return line, column
}
