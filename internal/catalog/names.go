package catalog

import (
	"strconv"
	"strings"
)

// typeName is an instance type's name, taken apart: r7iz.metal-16xl is of
// category r, generation 7, family r7iz and size metal-16xl; u-6tb1.112xlarge is
// of category u, generation 1 and family u-6tb1.
type typeName struct{ category, generation, family, size string }

// splitName takes a name apart by (^[a-z]+)(\-[0-9]+tb)?([0-9]+).*\. and tells
// whether it has that form.
func splitName(name string) (typeName, bool) {
	family, size, ok := strings.Cut(name, ".")
	if !ok || size == "" {
		return typeName{}, false
	}
	n := leading(family, 'a', 'z')
	category, rest := family[:n], family[n:]
	if tb, found := strings.CutPrefix(rest, "-"); found {
		digits := leading(tb, '0', '9')
		after, isTB := strings.CutPrefix(tb[digits:], "tb")
		if digits == 0 || !isTB {
			return typeName{}, false
		}
		rest = after
	}
	generation := rest[:leading(rest, '0', '9')]
	if category == "" || generation == "" {
		return typeName{}, false
	}
	return typeName{category: category, generation: generation, family: family, size: size}, true
}

// leading counts the bytes that s begins with and that lie between lo and hi.
func leading(s string, lo, hi byte) int {
	n := 0
	for n < len(s) && s[n] >= lo && s[n] <= hi {
		n++
	}
	return n
}

// Generation is the generation in an instance type's name, 0 where it has none.
func Generation(name string) int {
	n, ok := splitName(name)
	if !ok {
		return 0
	}
	g, err := strconv.Atoi(n.generation)
	if err != nil {
		return 0
	}
	return g
}
