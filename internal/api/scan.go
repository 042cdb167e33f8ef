package api

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep lists and objects may nest. No Kubernetes object comes
// near it, and a deeper one is an attack on the stack.
const maxDepth = 1000

// scanner walks over JSON text. It checks the syntax of everything that it
// passes, and allocates nothing. After the first mistake (mistake is not "") it
// stands still.
type scanner struct {
	data    []byte
	pos     int
	depth   int
	mistake string // at pos
}

// fail notes a mistake at the current position; it always returns false.
func (s *scanner) fail(message string) bool {
	if s.mistake == "" {
		s.mistake = message
	}
	return false
}

// failByte is fail for a byte that cannot stand here.
func (s *scanner) failByte(wanted string) bool {
	if s.pos >= len(s.data) {
		return s.fail("the text ends where " + wanted + " is due")
	}
	r, _ := utf8.DecodeRune(s.data[s.pos:])
	return s.fail(strconv.QuoteRune(r) + " stands where " + wanted + " is due")
}

// space passes white space.
func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\n', '\r', '\t':
			s.pos++
		default:
			return
		}
	}
}

// peek passes white space and returns the byte after it, 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.pos >= len(s.data) {
		return 0
	}
	return s.data[s.pos]
}

// open enters an object or a list whose first byte is at pos.
func (s *scanner) open() bool {
	s.pos++
	s.depth++
	if s.depth > maxDepth {
		return s.fail("lists and objects nest deeper than " + strconv.Itoa(maxDepth) + " levels")
	}
	return true
}

// next goes to the next element of what open has entered, and leaves it when
// there is none. first is true for the first element, end is the closing byte.
func (s *scanner) next(first bool, end byte) bool {
	c := s.peek()
	switch {
	case c == end:
		s.pos++
		s.depth--
		return false
	case first:
		return true
	case c != ',':
		return s.failByte("a comma or " + strconv.QuoteRune(rune(end)))
	}
	s.pos++
	if s.peek() == end {
		return s.fail("a comma stands before " + strconv.QuoteRune(rune(end)))
	}
	return true
}

// member reads the key of an object's member and the colon after it.
func (s *scanner) member() (raw []byte, escaped, ok bool) {
	if s.peek() != '"' {
		return nil, false, s.failByte("a key in double quotes")
	}
	if raw, escaped, ok = s.text(); !ok {
		return nil, false, false
	}
	if s.peek() != ':' {
		return nil, false, s.failByte("a colon")
	}
	s.pos++
	s.space()
	return raw, escaped, true
}

// text reads a string whose opening quote is at pos and returns what stands
// between the quotes, and whether it has escapes.
func (s *scanner) text() (raw []byte, escaped, ok bool) {
	s.pos++
	start := s.pos
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; {
		case c == '"':
			raw = s.data[start:s.pos]
			s.pos++
			return raw, escaped, true
		case c == '\\':
			escaped = true
			if !s.escape() {
				return nil, false, false
			}
		case c < ' ':
			return nil, false, s.fail("a string holds a line break or control character; write it as an escape, such as \\n")
		default:
			s.pos++
		}
	}
	return nil, false, s.fail("a string is not closed")
}

// escape passes one escape sequence.
func (s *scanner) escape() bool {
	if s.pos+1 >= len(s.data) {
		return s.fail("a string is not closed")
	}
	switch s.data[s.pos+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos += 2
		return true
	case 'u':
		if _, ok := hex4(s.data[s.pos+2:]); ok {
			s.pos += 6
			return true
		}
	}
	return s.fail("a string holds an escape that JSON does not know")
}

// number reads a number whose first byte is at pos.
func (s *scanner) number() (raw []byte, ok bool) {
	start := s.pos
	if s.data[s.pos] == '-' {
		s.pos++
	}
	zero := s.pos < len(s.data) && s.data[s.pos] == '0'
	from := s.pos
	if !s.digits() {
		return nil, false
	}
	if zero && s.pos-from > 1 {
		return nil, s.fail("a number begins with 0; put it in quotes where a string is meant")
	}
	if s.pos < len(s.data) && s.data[s.pos] == '.' {
		s.pos++
		if !s.digits() {
			return nil, false
		}
	}
	if s.pos < len(s.data) && (s.data[s.pos] == 'e' || s.data[s.pos] == 'E') {
		s.pos++
		if s.pos < len(s.data) && (s.data[s.pos] == '+' || s.data[s.pos] == '-') {
			s.pos++
		}
		if !s.digits() {
			return nil, false
		}
	}
	return s.data[start:s.pos], true
}

// digits passes one digit or more.
func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9' {
		s.pos++
	}
	return s.pos > start || s.failByte("a digit")
}

// word passes true, false or null.
func (s *scanner) word(w string) bool {
	if !bytes.HasPrefix(s.data[s.pos:], []byte(w)) {
		return s.failByte("a value")
	}
	s.pos += len(w)
	return true
}

// skip passes one value of any kind.
func (s *scanner) skip() bool {
	switch c := s.peek(); c {
	case '{', '[':
		return s.skipAll(c)
	case '"':
		_, _, ok := s.text()
		return ok
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		if c == '-' || '0' <= c && c <= '9' {
			_, ok := s.number()
			return ok
		}
		return s.failByte("a value")
	}
}

// skipAll passes an object or a list.
func (s *scanner) skipAll(c byte) bool {
	end := c + 2 // the closing brackets stand two after the opening ones in ASCII
	if !s.open() {
		return false
	}
	for first := true; s.next(first, end); first = false {
		if c == '{' {
			if _, _, ok := s.member(); !ok {
				return false
			}
		}
		if !s.skip() {
			return false
		}
	}
	return s.mistake == ""
}

// hex4 reads four hexadecimal digits.
func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 32)
	return rune(n), err == nil
}

// unescape resolves the escapes of a string that text has passed. Half of a
// surrogate pair becomes the replacement character, as everywhere in Go.
func unescape(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			i++
			continue
		}
		switch c := raw[i+1]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, _ := hex4(raw[i+2:])
			if utf16.IsSurrogate(r) {
				low := rune(utf8.RuneError)
				if len(raw) >= i+12 && raw[i+6] == '\\' && raw[i+7] == 'u' {
					low, _ = hex4(raw[i+8:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
			i += 6
			continue
		default: // the quote, the backslash and the slash stand for themselves
			out = append(out, c)
		}
		i += 2
	}
	return out
}
