package api

import (
	"slices"
	"strconv"
	"strings"
)

// maxNames is how many names a message lists at most.
const maxNames = 16

// suggest says which name was probably meant, or which there are.
func suggest(name string, known []string) string {
	if near := nearest(name, known); near != "" {
		return "did you mean " + strconv.Quote(near) + "?"
	}
	return "known are " + listNames(known)
}

// listNames writes names for a person, the last ones left out when they are
// many.
func listNames(names []string) string {
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:maxNames], ", ") + " and " + strconv.Itoa(len(names)-maxNames) + " more"
}

// nearest returns the known name that is written most like name, "" when none
// is near. Case does not count as a difference. Of equals the first wins.
func nearest(name string, known []string) string {
	if len(name) > 2*internLength {
		return ""
	}
	low := strings.ToLower(name)
	best, least := "", 1+max(1, len(name)/3)
	for _, k := range known {
		other := strings.ToLower(k)
		n := distance(low, other)
		if n > 1 && len(low) > 3 && (low+"s" == other || strings.HasPrefix(other, low) || strings.HasPrefix(low, other) && len(other) > 3) {
			n = 1 // a beginning of the name
		}
		if n < least {
			best, least = k, n
		}
	}
	return best
}

// distance is the number of insertions, deletions, replacements and swaps of
// neighbours that turn a into b.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// sortedKeys are the keys of a map in order, for messages and for output that
// must not depend on the map's own order.
func sortedKeys[K ~string, V any](m map[K]V) []K {
	out := make([]K, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
