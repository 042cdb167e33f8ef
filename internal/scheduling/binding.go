package scheduling

import (
	"cmp"
	"slices"
)

// boundPods are the pods of one class on one node, in a binding order.
type boundPods struct {
	c  *class
	sn *standingNode
	on *openNode
}

// takeUnbindable binds what is placed in an order in which the scheduler could,
// looking at affinity alone: of two pods that each wait for the other neither is
// ever bound, though both would be admitted where they are. What cannot be bound
// is taken out; true when something was.
func (s *solver) takeUnbindable(nodes []*openNode) bool {
	if !s.anyAffinity() {
		return false
	}
	placed := s.placedPods(nodes)
	if s.takeLonely(placed) {
		return true
	}
	// What stands is bound already: take what is placed off the counts.
	full := s.tallies
	hosts := map[*standingNode]hostState{}
	s.tallies = make([]tally, len(full))
	for i := range full {
		if s.groups[i].kind == affinity {
			s.tallies[i] = full[i].clone()
		}
	}
	bound := map[*openNode]hostState{}
	for _, b := range placed {
		s.countAffinity(b, -1, hosts, bound)
	}
	// What waits for nothing may be bound before the first of a group is.
	slices.SortStableFunc(placed, func(a, b boundPods) int { return cmp.Compare(s.waitsFor(a.c), s.waitsFor(b.c)) })
	for len(placed) > 0 {
		var later []boundPods
		for _, b := range placed {
			if s.bindable(b, hosts, bound) {
				s.countAffinity(b, 1, hosts, bound)
			} else {
				later = append(later, b)
			}
		}
		if len(later) == len(placed) {
			break
		}
		placed = later
	}
	s.tallies = full
	for _, b := range placed {
		s.takeOutPod(b)
	}
	return len(placed) > 0
}

// takeLonely takes out the pods whose affinity is not met with all others in
// place.
func (s *solver) takeLonely(placed []boundPods) bool {
	any := false
	for _, b := range placed {
		for _, r := range b.c.hard {
			g := s.groups[r.g]
			if g.kind != affinity || !r.own {
				continue
			}
			self := int32(0)
			if r.match {
				self = 1
			}
			if s.near(b, r.g, nil, nil)-self > 0 || r.match && s.tallies[r.g].total == 1 {
				continue
			}
			s.takeOutPod(b)
			any = true
			break
		}
	}
	return any
}

// near is how many pods that an affinity rule matches are in the domain of a placed
// pod. Nodes without an entry have what they have.
func (s *solver) near(b boundPods, id int32, standing map[*standingNode]hostState, open map[*openNode]hostState) int32 {
	g := s.groups[id]
	if !g.host() {
		if name, ok := s.affinityDomain(b, g.key); ok {
			t := &s.tallies[id]
			return t.count[t.domain(name)]
		}
		return 0
	}
	var host hostState
	if b.sn != nil {
		if host = standing[b.sn]; host == nil {
			host = b.sn.host
		}
	} else if host = open[b.on]; host == nil {
		host = b.on.host
	}
	_, cnt := host.get(id)
	return cnt
}

func (s *solver) anyAffinity() bool {
	for id, g := range s.groups {
		if g.kind == affinity && s.hardGroup[id] {
			return true
		}
	}
	return false
}

// placedPods lists the placed pods that have a part in an affinity rule.
func (s *solver) placedPods(nodes []*openNode) []boundPods {
	var out []boundPods
	for _, n := range s.standing {
		for _, pod := range n.pods {
			if c := s.classOf(pod); s.inAffinity(c) {
				out = append(out, boundPods{c: c, sn: n})
			}
		}
	}
	for _, n := range nodes {
		for _, c := range n.of {
			if s.inAffinity(c) {
				out = append(out, boundPods{c: c, on: n})
			}
		}
	}
	return out
}

// waitsFor is how many affinity rules a class declares.
func (s *solver) waitsFor(c *class) int {
	n := 0
	for _, r := range c.hard {
		if r.own && s.groups[r.g].kind == affinity {
			n++
		}
	}
	return n
}

func (s *solver) inAffinity(c *class) bool {
	for _, r := range c.hard {
		if s.groups[r.g].kind == affinity {
			return true
		}
	}
	return false
}

// affinityDomain is where a placed pod stands for a rule that is not the node's.
func (s *solver) affinityDomain(b boundPods, key string) (string, bool) {
	if b.sn != nil {
		name, ok := b.sn.labels[key]
		return name, ok
	}
	return s.domainOfState(b.on.st, key)
}

// countAffinity counts a pod with the affinity rules that match it.
func (s *solver) countAffinity(b boundPods, sign int32, standing map[*standingNode]hostState, open map[*openNode]hostState) {
	for _, r := range b.c.hard {
		g := s.groups[r.g]
		if g.kind != affinity || !r.match {
			continue
		}
		t := &s.tallies[r.g]
		if !g.host() {
			if name, ok := s.affinityDomain(b, g.key); ok {
				t.add(t.domain(name), sign, 0)
			}
			continue
		}
		t.total += sign
		part := []hostPart{{r.g, 0, sign}}
		if b.sn != nil {
			if _, ok := standing[b.sn]; !ok {
				standing[b.sn] = append(hostState(nil), b.sn.host...)
			}
			standing[b.sn] = standing[b.sn].with(part, 1)
		} else {
			if _, ok := open[b.on]; !ok {
				open[b.on] = append(hostState(nil), b.on.host...)
			}
			open[b.on] = open[b.on].with(part, 1)
		}
	}
}

// bindable tells whether a pod's affinity is met by what is bound.
func (s *solver) bindable(b boundPods, standing map[*standingNode]hostState, open map[*openNode]hostState) bool {
	for _, r := range b.c.hard {
		g := s.groups[r.g]
		if g.kind != affinity || !r.own {
			continue
		}
		t := &s.tallies[r.g]
		if r.match && t.total == 0 {
			continue // the first of them all
		}
		if s.near(b, r.g, standing, open) <= 0 {
			return false
		}
	}
	return true
}

// takeOutPod takes the last pod of a class off its node.
func (s *solver) takeOutPod(b boundPods) {
	if b.sn != nil {
		for i := len(b.sn.pods) - 1; i >= 0; i-- {
			if s.classOf(b.sn.pods[i]) == b.c {
				s.takeOut(b.c, b.sn, nil, i)
				return
			}
		}
		return
	}
	for i := len(b.on.of) - 1; i >= 0; i-- {
		if b.on.of[i] == b.c {
			s.takeOut(b.c, nil, b.on, i)
			return
		}
	}
}
