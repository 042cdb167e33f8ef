package scheduling

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// hostPod is a pod of the model: what it declares and what counts it, by group.
type hostPod struct{ own, match []bool }

func drawHostPod(t *rapid.T, groups int) hostPod {
	p := hostPod{make([]bool, groups), make([]bool, groups)}
	for g := range groups {
		p.own[g], p.match[g] = rapid.Bool().Draw(t, "own"), rapid.Bool().Draw(t, "match")
	}
	return p
}

func (p hostPod) parts() []hostPart {
	var out []hostPart
	for g := range p.own {
		part := hostPart{g: int32(g)}
		if p.own[g] {
			part.own = 1
		}
		if p.match[g] {
			part.cnt = 1
		}
		if part.own+part.cnt > 0 {
			out = append(out, part)
		}
	}
	return out
}

// nodeHolds tells whether each pod of a node could be admitted where it is, with
// the others in place: the final state, asked pod by pod. elsewhere is how many
// pods each group counts on other nodes.
func nodeHolds(groups []*group, pods []hostPod, elsewhere []int32) bool {
	for i, p := range pods {
		for g := range groups {
			others := int32(0)
			for j, q := range pods {
				if j != i && q.match[g] {
					others++
				}
			}
			if p.own[g] && !ownerAdmitted(groups[g], p.match[g], others, elsewhere[g]) {
				return false
			}
		}
	}
	return true
}

func ownerAdmitted(g *group, itself bool, others, elsewhere int32) bool {
	switch g.kind {
	case spread:
		if itself {
			others++
		}
		return others <= g.maxSkew
	case affinity:
		return others > 0 || itself && elsewhere == 0
	}
	return others == 0
}

// TestHostCap, where nodes can be made, so that the emptiest has none: the cap is how many pods alike can join a node one by one so that
// after each the node holds.
func TestHostCap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups := make([]*group, rapid.IntRange(1, 4).Draw(t, "groups"))
		elsewhere := make([]int32, len(groups))
		for i := range groups {
			groups[i] = &group{kind: groupKind(rapid.IntRange(0, 3).Draw(t, "kind")), key: hostKey, maxSkew: rapid.Int32Range(1, 3).Draw(t, "maxSkew"), filter: -1}
			elsewhere[i] = rapid.Int32Range(0, 1).Draw(t, "elsewhere")
		}
		var pods []hostPod
		for range rapid.IntRange(0, 3).Draw(t, "pods") {
			p := drawHostPod(t, len(groups))
			if nodeHolds(groups, append(slices.Clone(pods), p), elsewhere) {
				pods = append(pods, p)
			}
		}
		s := &solver{groups: groups, tallies: make([]tally, len(groups)), standingOnly: make([]bool, len(groups))}
		var state hostState
		for _, p := range pods {
			state = state.with(p.parts(), 1)
		}
		for g := range groups {
			_, here := state.get(int32(g))
			s.tallies[g].total = elsewhere[g] + here
		}
		p := drawHostPod(t, len(groups))
		const many = 8
		want := int64(0)
		for now := pods; want < many; want++ {
			now = append(slices.Clone(now), p)
			if !nodeHolds(groups, now, elsewhere) {
				break
			}
		}
		if got := min(many, s.hostCap(state, p.parts())); got != want {
			t.Fatalf("groups %s, on the node %v, elsewhere %v: %d of %v may join, one by one %d", kindsOf(groups), pods, elsewhere, got, p, want)
		}
	})
}

func kindsOf(groups []*group) string {
	out := ""
	for _, g := range groups {
		out += []string{"spread", "affinity", "anti", "port"}[g.kind] + "/" + strconv.Itoa(int(g.maxSkew)) + " "
	}
	return out
}

// TestTally holds the counters of a group against maps, and admission against
// the rule as the scheduler's documentation has it.
func TestTally(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	rapid.Check(t, func(t *rapid.T) {
		g := &group{kind: groupKind(rapid.IntRange(0, 2).Draw(t, "kind")), key: "zone", maxSkew: rapid.Int32Range(1, 3).Draw(t, "maxSkew"), minDomains: rapid.Int32Range(0, 5).Draw(t, "minDomains"), filter: -1}
		var tl tally
		count, owners, counted := map[string]int32{}, map[string]int32{}, map[string]bool{}
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			name := rapid.SampledFrom(names).Draw(t, "domain")
			if rapid.Bool().Draw(t, "counted") {
				tl.counted[tl.domain(name)] = true
				counted[name] = true
			}
			c, o := rapid.Int32Range(0, 2).Draw(t, "count"), rapid.Int32Range(0, 1).Draw(t, "owners")
			tl.add(tl.domain(name), c, o)
			count[name] += c
			owners[name] += o
		}
		total := int32(0)
		for _, n := range count {
			total += n
		}
		if tl.total != total {
			t.Fatalf("the total is %d, want %d", tl.total, total)
		}
		name := rapid.SampledFrom(names).Draw(t, "joins")
		r := ref{own: rapid.Bool().Draw(t, "own"), match: rapid.Bool().Draw(t, "match")}
		got := tl.admits(g, r, tl.domain(name))
		if want := naiveAdmits(g, r, name, count, owners, counted, total); got != want {
			t.Fatalf("%s of %+v with counts %v, owners %v, counted %v: one more (%+v) in %s is admitted %v, want %v", kindsOf([]*group{g}), *g, count, owners, counted, r, name, got, want)
		}
		var ordered []string
		for _, d := range tl.ordered() {
			ordered = append(ordered, tl.names[d])
		}
		count[name] += 0
		if !slices.Equal(ordered, slices.Sorted(maps.Keys(count))) {
			t.Fatalf("the domains are ordered %v, want %v", ordered, slices.Sorted(maps.Keys(count)))
		}
	})
}

// naiveAdmits adds the pod and asks whether the rule holds for the pod and for
// the owners that share its domain.
func naiveAdmits(g *group, r ref, name string, count, owners map[string]int32, counted map[string]bool, total int32) bool {
	after := maps.Clone(count)
	if r.match {
		after[name]++
	}
	switch g.kind {
	case spread:
		least, n := int32(math.MaxInt32), int32(0)
		for d := range counted {
			least = min(least, after[d])
			n++
		}
		if n == 0 || n < g.minDomains {
			least = 0
		}
		return !r.own && owners[name] == 0 || after[name]-least <= g.maxSkew
	case affinity:
		return !r.own || count[name] > 0 || r.match && total == 0
	}
	return (!r.own || count[name] == 0) && (!r.match || owners[name] == 0)
}

// TestTallyIsRestored: what is tried after a clone was taken leaves nothing behind
// but domains that are known and empty.
func TestTallyIsRestored(t *testing.T) {
	names := []string{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		var tl tally
		book := func(label string) {
			for range rapid.IntRange(0, 6).Draw(t, label) {
				tl.add(tl.domain(rapid.SampledFrom(names).Draw(t, "domain")), rapid.Int32Range(0, 2).Draw(t, "count"), rapid.Int32Range(0, 1).Draw(t, "owners"))
			}
		}
		book("before")
		before := tl.clone()
		book("tried")
		tl.restore(&before)
		if tl.total != before.total {
			t.Fatalf("the total is %d, before it was %d", tl.total, before.total)
		}
		for _, name := range names {
			d, old := tl.domain(name), before.domain(name)
			if tl.count[d] != before.count[old] || tl.owners[d] != before.owners[old] {
				t.Fatalf("%s has %d and %d owners, before it had %d and %d", name, tl.count[d], tl.owners[d], before.count[old], before.owners[old])
			}
		}
	})
}
