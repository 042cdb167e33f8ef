package scheduling

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// list writes names for a person, the last ones left out when they are many.
func list(names []string) string {
	if len(names) <= maxListed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed-1], ", "), len(names)-maxListed+1)
}

// quantity writes an amount exactly, with what it is of.
func (r *reasoner) quantity(d int, n int64) string {
	if d == dimCPU {
		return brief(cluster.CPU, n) + " cores"
	}
	return cluster.FormatAmount(r.names[d], n) + " " + r.names[d]
}

// brief writes an amount that there is: bytes are rounded down to a tenth of a Gi.
func brief(name string, n int64) string {
	switch {
	case name == cluster.CPU:
		return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64)
	case cluster.IsBytes(name) && n >= 1<<30:
		return strconv.FormatFloat(math.Floor(float64(n)/(1<<30)*10)/10, 'f', -1, 64) + "Gi"
	}
	return cluster.FormatAmount(name, n)
}

// hint guesses which known name was meant: one that differs in few letters, in no
// digit (m5, m6) and not in the last letter alone (us-east-1a, us-east-1b).
func hint(names, known []string) string {
	digits := func(s string) string {
		return strings.Join(strings.FieldsFunc(s, func(c rune) bool { return c < '0' || c > '9' }), "")
	}
	for _, name := range names {
		low := strings.ToLower(name)
		best, least := "", 1+max(1, min(3, len(name)/3))
		for _, k := range known {
			other := strings.ToLower(k)
			if digits(other) != digits(low) || other != low && len(other) == len(low) && other[:len(low)-1] == low[:len(low)-1] {
				continue
			}
			if n := edits(low, other); n < least || n == least && best != "" && k < best {
				best, least = k, n
			}
		}
		if best != "" && !slices.Contains(known, name) {
			return fmt.Sprintf("; did you mean %q?", best)
		}
	}
	return ""
}

// edits counts the letters to add, take out or replace to get from a to b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			here := corner
			if a[i] != b[j] {
				here = 1 + min(corner, row[j], row[j+1])
			}
			corner, row[j+1] = row[j+1], here
		}
	}
	return row[len(b)]
}
