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
	path     []step
	problems []string
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

// bad reports an error.
func (c *conversion) bad(rel, format string, args ...any) {
	c.rep.addf(c.where(rel), format, args...)
}

// odd reports a warning.
func (c *conversion) odd(rel, format string, args ...any) {
	c.rep.warn(c.where(rel), fmt.Sprintf(format, args...))
}

// problem notes why the pod cannot be planned, as a whole sentence.
func (c *conversion) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}
