package api

import (
	"fmt"
	"strings"
)

// conversion turns one object into nouns and remembers where in the object it
// stands. What the API server would refuse goes to rep; what is legal and
// cannot be planned becomes a problem of the pod.
//
// A function that goes into a field begins with
//
//	defer c.back(c.in("affinity"))
//
// so that the path is whole again however it returns. The path is a stack
// because thousands of pods are read without an error, and nothing should be
// allocated for the paths of those.
type conversion struct {
	rep      *reporter
	first    int // of the object's own errors in rep
	before   int // how many errors there were before it
	path     []step
	problems []string
}

// read decodes an object strictly and begins its conversion. A conversion goes
// on after mistakes, so that all of them are reported at once; whoever keeps
// its result asks clean first.
func (acc *coreAccumulator) read(o *Object, into any, m *coreMeta, rep *reporter) conversion {
	c := conversion{rep: rep, first: len(rep.errors), before: rep.count()}
	decodeStrict(o.Raw, into, rep)
	if o.Name == "" && m.GenerateName != "" {
		o.Name = m.GenerateName + acc.suffix(o.Raw)
	}
	c.identity(o)
	return c
}

// suffix ends the name of an object that leaves its name to the API server. It
// is the same in each run, wherever in the input the object stands.
func (acc *coreAccumulator) suffix(raw []byte) string {
	if acc.generated == nil {
		acc.generated = make(map[uint64]uint64)
	}
	h := hashOf(string(raw))
	n := acc.generated[h]
	acc.generated[h]++
	return letters(h+n*0x9e3779b97f4a7c15, 5)
}

// clean tells whether nothing was found wrong with the object.
func (c *conversion) clean() bool { return c.rep.count() == c.before }

// identity checks the name of an object.
func (c *conversion) identity(o *Object) {
	switch {
	case o.Name == "":
		c.bad("metadata.name", "is missing; give the object a name")
	case !isSubdomain(o.Name):
		c.bad("metadata.name", "%q is not a name; write lower-case letters, digits, - and ., at most 253, with a letter or digit at both ends", o.Name)
	}
	if o.Namespace != "" && (len(o.Namespace) > 63 || !isDNSLabel(o.Namespace)) {
		c.bad("metadata.namespace", "%q is not the name of a namespace; write lower-case letters, digits and -, at most 63, with a letter or digit at both ends", o.Namespace)
	}
}

// step is a step of a field path: a field, or an element of a list where name
// is "".
type step struct {
	name  string
	index int
}

// in goes into a field and returns where to come back to.
func (c *conversion) in(name string) int {
	c.path = append(c.path, step{name: name})
	return len(c.path) - 1
}

// at goes to an element of the list in a field.
func (c *conversion) at(name string, i int) int {
	c.path = append(c.path, step{name: name}, step{index: i})
	return len(c.path) - 2
}

// back returns to where in or at was called.
func (c *conversion) back(to int) { c.path = c.path[:to] }

// where is the path of something inside of where the conversion stands: a
// field, an element, or what it stands on for "".
func (c *conversion) where(rel string) string {
	path := ""
	for _, s := range c.path {
		if s.name == "" {
			path = index(path, s.index)
		} else {
			path = field(path, s.name)
		}
	}
	switch {
	case rel == "":
		return path
	case strings.HasPrefix(rel, "["):
		return path + rel
	}
	return field(path, rel)
}

// bad reports an error, unless decoding has found fault with the same field
// before: a value of the wrong type is not also one that is missing.
func (c *conversion) bad(rel, format string, args ...any) {
	path := c.where(rel)
	for i := c.first; i < len(c.rep.errors); i++ {
		if c.rep.errors[i].Path == path {
			return
		}
	}
	c.rep.addf(path, format, args...)
}

// odd reports a warning.
func (c *conversion) odd(rel, format string, args ...any) {
	c.rep.warn(c.where(rel), fmt.Sprintf(format, args...))
}

// problem notes why the pod cannot be planned, as a whole sentence.
func (c *conversion) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}
