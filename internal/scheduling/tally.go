package scheduling

import (
	"maps"
	"math"
	"slices"
	"sort"
)

// tally counts a group's pods by domain. Domains are numbered as they are met;
// names orders them where an order can reach the result.
type tally struct {
	index  map[string]int32
	names  []string
	count  []int32 // pods that the selector matches, on nodes that pass the filter
	owners []int32 // pods that declare the rule
	// counted domains take part in the minimum of a spread: a node that passes
	// the filter stands there or can be made there.
	counted []bool
	total   int32
}

func (t *tally) domain(name string) int32 {
	if i, ok := t.index[name]; ok {
		return i
	}
	if t.index == nil {
		t.index = map[string]int32{}
	}
	i := int32(len(t.names))
	t.index[name] = i
	t.names = append(t.names, name)
	t.count = append(t.count, 0)
	t.owners = append(t.owners, 0)
	t.counted = append(t.counted, false)
	return i
}

// clone is a copy that counts on its own.
func (t *tally) clone() tally {
	out := *t
	out.index = maps.Clone(t.index)
	out.names, out.count, out.owners, out.counted = slices.Clone(t.names), slices.Clone(t.count), slices.Clone(t.owners), slices.Clone(t.counted)
	return out
}

func (t *tally) add(d int32, count, owners int32) {
	t.count[d] += count
	t.owners[d] += owners
	t.total += count
}

// restore sets the counts back to those of a clone; domains that came later are
// empty, and those that take part in the minimum stay.
func (t *tally) restore(old *tally) {
	clear(t.count)
	clear(t.owners)
	copy(t.count, old.count)
	copy(t.owners, old.owners)
	t.total = old.total
}

// least is the smallest count over the counted domains as the rule reads it:
// 0 where there are fewer domains than minDomains. With a pod added to domain
// plus (-1: none).
func (t *tally) least(g *group, plus int32, by int32) int32 {
	low, n := int32(math.MaxInt32), int32(0)
	for d := range t.count {
		if !t.counted[d] {
			continue
		}
		n++
		c := t.count[d]
		if int32(d) == plus {
			c += by
		}
		low = min(low, c)
	}
	if n == 0 || n < g.minDomains {
		return 0
	}
	return low
}

// admits tells whether one more pod with part r may be in domain d so that it
// and every owner that is there already could be admitted.
func (t *tally) admits(g *group, r ref, d int32) bool {
	by := int32(0)
	if r.match {
		by = 1
	}
	owner := r.own || t.owners[d] > 0
	switch g.kind {
	case spread:
		return !owner || t.count[d]+by-t.least(g, d, by) <= g.maxSkew
	case affinity:
		return !r.own || t.count[d] > 0 || r.match && t.total == 0
	default:
		if r.own && t.count[d] > 0 {
			return false
		}
		return !r.match || t.owners[d] == 0
	}
}

// ordered is the domains by name.
func (t *tally) ordered() []int32 {
	out := make([]int32, len(t.names))
	for i := range out {
		out[i] = int32(i)
	}
	sort.Slice(out, func(a, b int) bool { return t.names[out[a]] < t.names[out[b]] })
	return out
}
