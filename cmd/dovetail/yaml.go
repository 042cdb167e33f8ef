package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// appendYAML writes JSON as block YAML, keys in the order of the JSON. A
// general library marshals, parses and marshals again, which takes seconds and
// a gigabyte for a plan of thousands of nodes; this reads the tokens once. The
// first line begins where the writer stands, further ones at indent spaces.
func appendYAML(w *bufio.Writer, raw []byte, indent int) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	y := yamlEmitter{w, dec}
	t, err := dec.Token()
	if err != nil {
		return err
	}
	return y.value(t, indent, true)
}

// yamlEmitter writes what a decoder reads. Errors of the writer are the
// writer's to keep: bufio returns the first one on Flush.
type yamlEmitter struct {
	w   *bufio.Writer
	dec *json.Decoder
}

// value writes the value that begins with a token, and ends its last line. A
// map or a list that is inline begins on the current line.
func (y *yamlEmitter) value(t json.Token, indent int, inline bool) error {
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return y.object(indent, inline)
		}
		return y.array(indent, inline)
	case string:
		y.w.WriteString(yamlString(t))
	case json.Number:
		y.w.WriteString(t.String())
	case bool:
		if t {
			y.w.WriteString("true")
		} else {
			y.w.WriteString("false")
		}
	case nil:
		y.w.WriteString("null")
	}
	return y.w.WriteByte('\n')
}

func (y *yamlEmitter) object(indent int, inline bool) error {
	for first := true; ; first = false {
		t, err := y.dec.Token()
		if err != nil {
			return truncated(err)
		}
		key, ok := t.(string)
		if !ok { // the closing brace
			return y.end(first, " {}\n", inline)
		}
		y.begin(first, inline, indent)
		y.w.WriteString(yamlString(key))
		y.w.WriteByte(':')
		if err := y.field(indent); err != nil {
			return err
		}
	}
}

// field writes the value of a key: a scalar on the key's line, a map or a list
// on the lines after it. A list stands at the indentation of its key.
func (y *yamlEmitter) field(indent int) error {
	t, err := y.dec.Token()
	if err != nil {
		return truncated(err)
	}
	switch t {
	case json.Delim('{'):
		return y.object(indent+2, false)
	case json.Delim('['):
		return y.array(indent, false)
	}
	y.w.WriteByte(' ')
	return y.value(t, indent, true)
}

func (y *yamlEmitter) array(indent int, inline bool) error {
	for first := true; ; first = false {
		t, err := y.dec.Token()
		if err != nil {
			return truncated(err)
		}
		if t == json.Delim(']') {
			return y.end(first, " []\n", inline)
		}
		y.begin(first, inline, indent)
		y.w.WriteString("- ")
		if err := y.value(t, indent+2, true); err != nil {
			return err
		}
	}
}

// begin goes to where an element of a map or a list begins.
func (y *yamlEmitter) begin(first, inline bool, indent int) {
	if first && inline {
		return
	}
	if first {
		y.w.WriteByte('\n')
	}
	for range indent {
		y.w.WriteByte(' ')
	}
}

// end closes a map or a list; one without elements has to be written out.
func (y *yamlEmitter) end(empty bool, text string, inline bool) error {
	if !empty {
		return nil
	}
	if inline {
		text = text[1:]
	}
	_, err := y.w.WriteString(text)
	return err
}

func truncated(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// yamlString writes a string as it is where YAML reads it back as that string,
// and in quotes elsewhere: a JSON string is a YAML string.
func yamlString(s string) string {
	if plainYAML(s) {
		return s
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""` // a string always encodes
	}
	var out strings.Builder
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		if r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff { // JSON lets them stand, YAML does not
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// plainYAML tells whether a string needs no quotes. It is stricter than YAML:
// quotes too many do no harm.
func plainYAML(s string) bool {
	if s == "" || !letter(s[0]) || s[len(s)-1] == ' ' || s[len(s)-1] == ':' {
		return false
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case letter(c), c >= '0' && c <= '9', strings.IndexByte("_-./@+(),=", c) >= 0:
		case c == ' ' || c == ':':
			if i+1 < len(s) && (s[i+1] == ' ' || s[i+1] == ':') {
				return false
			}
		default:
			return false
		}
	}
	return !yamlWords[strings.ToLower(s)]
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// yamlWords are words that some version of YAML reads as something else than a
// string.
var yamlWords = map[string]bool{"true": true, "false": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true, "null": true}
