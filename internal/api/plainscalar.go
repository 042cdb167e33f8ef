package api

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// plainKind is what a scalar without quotes means.
type plainKind uint8

const (
	plainUnsure plainKind = iota
	plainString
	plainInt   // in the form of JSON
	plainFloat // digits, a point, digits
	plainTrue
	plainFalse
	plainNull
)

// plainWords are the scalars that are no strings although they are words, in
// YAML 1.1.
var plainWords = map[string]plainKind{
	"~": plainNull, "null": plainNull, "Null": plainNull, "NULL": plainNull,
	"y": plainTrue, "Y": plainTrue, "yes": plainTrue, "Yes": plainTrue, "YES": plainTrue,
	"true": plainTrue, "True": plainTrue, "TRUE": plainTrue, "on": plainTrue, "On": plainTrue, "ON": plainTrue,
	"n": plainFalse, "N": plainFalse, "no": plainFalse, "No": plainFalse, "NO": plainFalse,
	"false": plainFalse, "False": plainFalse, "FALSE": plainFalse, "off": plainFalse, "Off": plainFalse, "OFF": plainFalse,
}

// kindOfPlain tells what a scalar means.
func kindOfPlain(text []byte) plainKind {
	switch c := text[0]; {
	case c == '.' || c == '~' && len(text) > 1:
		return plainUnsure
	case '0' <= c && c <= '9' || c == '-' || c == '+':
		return kindOfNumber(text)
	case len(text) <= 5:
		if kind, ok := plainWords[string(text)]; ok {
			return kind
		}
	}
	return plainString
}

// kindOfNumber tells what a scalar means that begins as a number does.
func kindOfNumber(text []byte) plainKind {
	digits, points := true, 0
	for i, c := range text {
		switch {
		case '0' <= c && c <= '9':
		case i == 0 && c == '-':
		case c == '.' && i > 0 && i < len(text)-1 && text[i-1] != '-':
			points++
		case bytes.IndexByte([]byte("+-._xXoO"), c) >= 0, 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
			digits = false
		default:
			return plainString // no number in any form has this
		}
	}
	unsigned := bytes.TrimPrefix(text, []byte{'-'})
	if digits && points == 1 && len(text) < 24 {
		return plainFloat
	}
	if digits && points == 0 && len(unsigned) > 0 && len(unsigned) < 18 && (unsigned[0] != '0' || len(text) == 1) {
		return plainInt
	}
	return plainUnsure
}

// appendFloat appends a number with a point, as the other parser would write it.
func appendFloat(out, text []byte) ([]byte, bool) {
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		return out, false
	}
	written, err := json.Marshal(f)
	return append(out, written...), err == nil
}

// quoted reads a quoted scalar that ends on its line. end is behind the closing
// quote. It is not ok when the scalar is not that simple.
func quoted(line []byte) (text []byte, end int, ok bool) {
	if line[0] == '\'' {
		return singleQuoted(line)
	}
	i := 1
	for i < len(line) && line[i] != '"' {
		switch line[i] {
		case '\t':
			return nil, 0, false
		case '\\':
			if i+1 == len(line) || bytes.IndexByte([]byte(`"\nrtbf`), line[i+1]) < 0 {
				return nil, 0, false
			}
			i++
		}
		i++
	}
	if i >= len(line) {
		return nil, 0, false
	}
	text = line[1:i]
	if bytes.IndexByte(text, '\\') >= 0 {
		text = unescape(text)
	}
	return text, i + 1, true
}

func singleQuoted(line []byte) (text []byte, end int, ok bool) {
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == '\t':
			return nil, 0, false
		case line[i] != '\'':
		case i+1 < len(line) && line[i+1] == '\'':
			i++
		default:
			return bytes.ReplaceAll(line[1:i], []byte("''"), []byte("'")), i + 1, true
		}
	}
	return nil, 0, false
}

// appendText appends a string of JSON.
func appendText(out, text []byte) []byte {
	out = append(out, '"')
	out = appendEscaped(out, text)
	return append(out, '"')
}

// appendEscaped appends what stands between the quotes of a string of JSON.
func appendEscaped(out, text []byte) []byte {
	from := 0
	for i, c := range text {
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		out = append(out, text[from:i]...)
		from = i + 1
		switch c {
		case '\n':
			out = append(out, `\n`...)
		case '\t':
			out = append(out, `\t`...)
		case '\r':
			out = append(out, `\r`...)
		case '\b':
			out = append(out, `\b`...)
		case '\f':
			out = append(out, `\f`...)
		default:
			out = append(out, '\\', c)
		}
	}
	return append(out, text[from:]...)
}

// keySet holds the keys of a mapping, to find one that stands twice.
type keySet struct {
	few  [][]byte
	many map[string]bool
}

// add adds a key and tells whether it is new.
func (s *keySet) add(name []byte) bool {
	if s.many == nil {
		for _, k := range s.few {
			if bytes.Equal(k, name) {
				return false
			}
		}
		if s.few = append(s.few, name); len(s.few) < 24 {
			return true
		}
		s.many = make(map[string]bool, 2*len(s.few))
		for _, k := range s.few {
			s.many[string(k)] = true
		}
		return true
	}
	if s.many[string(name)] {
		return false
	}
	s.many[string(name)] = true
	return true
}
