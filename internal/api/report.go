package api

import (
	"fmt"
	"strconv"
	"strings"
)

// maxErrors is how many errors are kept; the rest are counted. A file with more
// than that many mistakes is the wrong file.
const maxErrors = 1000

// Error is one thing that is wrong with the input, told for the person who
// wrote it.
type Error struct {
	File     string `json:"file"`
	Document int    `json:"document,omitempty"` // from 1; 0 when it is of the whole file
	Object   string `json:"object,omitempty"`   // Kind/name or Kind/namespace/name
	Path     string `json:"path,omitempty"`     // field path, such as spec.limits.cpu
	Message  string `json:"message"`
}

// Error writes the parts that are known from the outside in.
func (e Error) Error() string {
	var b strings.Builder
	part := func(s string) {
		if b.Len() > 0 {
			b.WriteString(": ")
		}
		b.WriteString(s)
	}
	if e.File != "" {
		part(e.File)
	}
	if e.Document > 0 {
		part("document " + strconv.Itoa(e.Document))
	}
	if e.Object != "" {
		part(e.Object)
	}
	if e.Path != "" {
		part(e.Path)
	}
	part(e.Message)
	return b.String()
}

// reporter collects what is wrong while objects are decoded and converted. It
// stands on one object at a time: at moves it.
type reporter struct {
	object Object // without what it says

	errors   []Error
	more     int // errors beyond maxErrors
	warnings []string

	// hints say what to do about some unknown fields, by path.
	hints map[string]string
	// settled are the paths of the current object whose content could not be
	// decoded. What the rules would say of them, or of what they hold, would be
	// said of zeros.
	settled []string

	// What the decoder keeps from one object to the next.
	strings interner
	shapes  shapes
	path    []segment
}

// at moves the reporter to an object: what is added next is said of it.
func (r *reporter) at(o *Object) {
	r.object = Object{File: o.File, Document: o.Document, Item: o.Item, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
	r.settled = r.settled[:0]
}

// of is an error of the current object.
func (r *reporter) of(path, message string) Error {
	o := &r.object
	e := Error{File: o.File, Document: o.Document, Object: o.Ref(), Path: path, Message: message}
	if o.Name == "" && o.Item > 0 { // the name that says best which it is
		e.Object = strings.TrimSpace(o.Kind + " item " + strconv.Itoa(o.Item))
	}
	return e
}

// add reports an error at a field path of the current object; an empty path
// means the object as a whole.
func (r *reporter) add(path, message string) {
	if len(r.errors) >= maxErrors { // before the paths are compared, of which there may be as many
		r.more++
		return
	}
	if r.isSettled(path) {
		return
	}
	r.errors = append(r.errors, r.of(path, message))
}

// settle marks a path of the current object as reported for good.
func (r *reporter) settle(path string) {
	if path != "" && len(r.errors) < maxErrors {
		r.settled = append(r.settled, path)
	}
}

// isSettled tells whether a path, or what holds it, is settled.
func (r *reporter) isSettled(path string) bool {
	for _, s := range r.settled {
		if rest, ok := strings.CutPrefix(path, s); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// addf is add with a format.
func (r *reporter) addf(path, format string, args ...any) {
	r.add(path, fmt.Sprintf(format, args...))
}

// warn reports something that is allowed and yet looks like a mistake.
func (r *reporter) warn(path, message string) {
	if len(r.warnings) >= maxErrors {
		return
	}
	r.warnings = append(r.warnings, r.of(path, message).Error())
}

// count is how many errors there are so far, to tell whether a step added any.
func (r *reporter) count() int { return len(r.errors) + r.more }

// field extends a path by a field of an object.
func field(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// key extends a path by a key of a map: as a field where the key reads like
// one, else in brackets and quotes.
func key(path, name string) string {
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return path + "[" + strconv.Quote(name) + "]"
		}
	}
	if name == "" {
		return path + `[""]`
	}
	return field(path, name)
}

// index extends a path by an element of a list.
func index(path string, i int) string {
	return path + "[" + strconv.Itoa(i) + "]"
}
