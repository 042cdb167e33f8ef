package api

import (
	"strings"
)

// envelope is what must be known of an object before its kind is: the parts of
// its outermost level.
type envelope struct {
	apiVersion, kind string
	namespace, name  string
	items            []byte // the list of a List, nil when there is none
	// flat are the members that a flat input has,
	// in the order in which they stand.
	flat []member
}

// member is a member of a JSON object.
type member struct {
	name string
	raw  []byte
}

// readEnvelope reads the outermost level of an object. The syntax has been
// checked; of a key that stands twice the last counts here, and decoding reports
// it. What is not of the right type counts as absent here, likewise.
func readEnvelope(raw []byte) envelope {
	var e envelope
	eachMember(raw, func(name string, value []byte) {
		switch name {
		case "apiVersion":
			e.apiVersion = stringOf(value)
		case "kind":
			e.kind = stringOf(value)
		case "metadata":
			eachMember(value, func(name string, value []byte) {
				switch name {
				case "name":
					e.name = stringOf(value)
				case "namespace":
					e.namespace = stringOf(value)
				}
			})
		case "items":
			if value[0] == '[' {
				e.items = value
			}
		default:
			if _, ok := flatKinds[name]; ok {
				e.flat = append(e.flat, member{name, value})
			}
		}
	})
	return e
}

// eachMember gives the members of an object, in order; nothing when raw is not
// an object.
func eachMember(raw []byte, f func(name string, value []byte)) {
	s := scanner{data: raw}
	if s.peek() != '{' || !s.open() {
		return
	}
	for first := true; s.next(first, '}'); first = false {
		name, escaped, ok := s.member()
		if !ok {
			return
		}
		if escaped {
			name = unescape(name)
		}
		start := s.pos
		if !s.skip() {
			return
		}
		f(string(name), s.data[start:s.pos:s.pos])
	}
}

// eachElement gives the elements of a list, in order, until f returns false.
func eachElement(raw []byte, f func(value []byte) bool) {
	s := scanner{data: raw}
	if s.peek() != '[' || !s.open() {
		return
	}
	for first := true; s.next(first, ']'); first = false {
		s.space()
		start := s.pos
		if !s.skip() || !f(s.data[start:s.pos:s.pos]) {
			return
		}
	}
}

// stringOf is the text of a JSON string, "" of anything else.
func stringOf(raw []byte) string {
	s := scanner{data: raw}
	if s.peek() != '"' {
		return ""
	}
	text, escaped, ok := s.text()
	if !ok {
		return ""
	}
	if escaped {
		text = unescape(text)
	}
	return string(text)
}

// splitVersion takes an apiVersion apart; the core group is "".
func splitVersion(apiVersion string) (group, version string) {
	if group, version, ok := strings.Cut(apiVersion, "/"); ok {
		return group, version
	}
	return "", apiVersion
}
