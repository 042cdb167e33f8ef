// Package tidy holds the rules of this repository that a compiler does not
// check: who may import whom, which packages stay free of I/O, how long a file
// may grow, and what no file of the tree may contain. Its tests apply them to
// the whole tree; the checkers are ordinary functions over values, so that the
// tests can also show them what they must refuse.
//
// Nothing imports this package.
package tidy

import (
	"cmp"
	"fmt"
	"slices"
)

// Violation is one break of one rule.
type Violation struct {
	Where string // an import path, or file:line
	What  string // what was found there
	Why   string // the reason of the rule, and what to do instead
}

// String is the violation as a test prints it.
func (v Violation) String() string {
	return fmt.Sprintf("%s: %s\n\t%s", v.Where, v.What, v.Why)
}

// sorted orders violations by place, so that a failing run reads from top to
// bottom and two runs read alike.
func sorted(vs []Violation) []Violation {
	slices.SortStableFunc(vs, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Where, b.Where), cmp.Compare(a.What, b.What))
	})
	return vs
}
