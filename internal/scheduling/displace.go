package scheduling

import (
	"maps"
	"slices"
)

// displace looks at the strays that have a higher priority than something that is
// placed: where pods of lower priority are in the way of one, they are taken out,
// the least first, and are strays themselves. Each pod that comes in has a higher
// priority than those that go, so that it ends.
func (s *solver) displace(nodes []*openNode) (out []*openNode, moved bool) {
	lowest, any := s.lowestPlaced(nodes)
	if !any {
		return nodes, false
	}
	todo := s.gatherStrays()
	s.strays = nil
	for _, sp := range todo {
		for k, pod := range sp.pods {
			if sp.c.shape.priority > lowest {
				if n, ok := s.makeWay(sp.c, pod, nodes); ok {
					nodes, moved = n, true
					continue
				}
			}
			// The rest of the class fares no better.
			s.stray(sp.c, sp.pods[k:])
			break
		}
	}
	return nodes, moved
}

// lowestPlaced is the lowest priority among what is placed.
func (s *solver) lowestPlaced(nodes []*openNode) (lowest int32, any bool) {
	note := func(c *class) {
		if !any || c.shape.priority < lowest {
			lowest, any = c.shape.priority, true
		}
	}
	if len(s.strays) == 0 {
		return 0, false
	}
	for _, n := range s.standing {
		for _, pod := range n.pods {
			note(s.classOf(pod))
		}
	}
	for _, n := range nodes {
		for _, c := range n.of {
			note(c)
		}
	}
	return lowest, any
}

// makeWay places a pod where pods of lower priority are, in their place: on their
// node, or, where limits are what is short, on a node instead of theirs.
func (s *solver) makeWay(c *class, pod int32, nodes []*openNode) ([]*openNode, bool) {
	for _, n := range s.standing {
		if n.closed || !s.nodeAllows(n, c.shape.sig) {
			continue
		}
		of := make([]*class, len(n.pods))
		for i, p := range n.pods {
			of[i] = s.classOf(p)
		}
		if len(s.lesser(of, c)) == 0 {
			continue
		}
		if s.tryWay(c, pod, n, nil) {
			return nodes, true
		}
	}
	for _, n := range nodes {
		if len(s.lesser(n.of, c)) > 0 && s.tryWay(c, pod, nil, n) {
			return nodes, true
		}
	}
	if !s.limited() {
		return nodes, false
	}
	for _, n := range nodes {
		if len(n.pods) == 0 || len(s.lesser(n.of, c)) < len(n.of) {
			continue
		}
		if more, ok := s.insteadOf(c, pod, n, nodes); ok {
			return more, true
		}
	}
	return nodes, false
}

// lesser lists the places of pods of lower priority than a class, the lowest first
// and of those the last.
func (s *solver) lesser(of []*class, c *class) []int {
	var out []int
	for i := len(of) - 1; i >= 0; i-- {
		if of[i].shape.priority < c.shape.priority {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return int(of[a].shape.priority) - int(of[b].shape.priority) })
	return out
}

// tryWay takes lesser pods off a node, one after the other, until the pod can take
// their place; when it never can they are put back.
func (s *solver) tryWay(c *class, pod int32, sn *standingNode, on *openNode) bool {
	undo := s.remember(sn, on)
	for {
		var of []*class
		if sn != nil {
			for _, p := range sn.pods {
				of = append(of, s.classOf(p))
			}
		} else {
			of = on.of
		}
		out := s.lesser(of, c)
		if len(out) == 0 || on != nil && len(on.of) == 1 {
			break
		}
		s.takeOut(of[out[0]], sn, on, out[0])
		if s.placeAt(c, pod, sn, on) {
			return true
		}
	}
	undo()
	return false
}

// placeAt puts a pod on one node if that admits it.
func (s *solver) placeAt(c *class, pod int32, sn *standingNode, on *openNode) bool {
	host, keys := s.hostParts(c, 1), s.keysOf(c)
	for _, sig := range s.alternatives(c) {
		if sn != nil {
			if s.standingAdmits(sn, c, sig, host, keys) {
				s.putStanding(sn, c, pod, host)
				return true
			}
			continue
		}
		best := place{extra: noPrice}
		if s.hostCap(on.host, host) > 0 {
			if s.onOpen(c, sig, keys, on, &best); best.node != nil {
				s.putOpen(&best, c, pod, host)
				return true
			}
		}
	}
	return false
}

// noPrice is more than any price.
const noPrice = 1e300

// insteadOf places a pod on a node of its own in the place of one with lesser pods
// alone, which the limits do not allow beside it.
func (s *solver) insteadOf(c *class, pod int32, n *openNode, nodes []*openNode) ([]*openNode, bool) {
	undo := s.remember(nil, n)
	for len(n.of) > 0 {
		i := len(n.of) - 1
		s.takeOut(n.of[i], nil, n, i)
	}
	host, keys := s.hostParts(c, 1), s.keysOf(c)
	best := place{extra: noPrice}
	for _, sig := range s.alternatives(c) {
		if s.onNew(c, sig, host, keys, &best) {
			best.node = &openNode{pool: s.states[best.st].pool}
			s.putOpen(&best, c, pod, host)
			return append(nodes, best.node), true
		}
	}
	undo()
	return nodes, false
}

// remember returns what puts a node and the strays back as they are now.
func (s *solver) remember(sn *standingNode, on *openNode) func() {
	strays := len(s.strays)
	if sn != nil {
		old := *sn
		claims := maps.Clone(sn.claims)
		old.pods, old.host = slices.Clone(sn.pods), slices.Clone(sn.host)
		return func() {
			s.strays = s.strays[:strays]
			for _, pod := range old.pods {
				if !slices.Contains(sn.pods, pod) {
					s.bookAt(s.classOf(pod), sn, 1)
				}
			}
			if old.claims != nil {
				old.claims = claims
			}
			*sn = old
		}
	}
	old := *on
	old.pods, old.of, old.host = slices.Clone(on.pods), slices.Clone(on.of), slices.Clone(on.host)
	claims := maps.Clone(on.claims)
	return func() {
		s.strays = s.strays[:strays]
		for i, pod := range old.pods {
			if !slices.Contains(on.pods, pod) {
				s.bookOpen(old.of[i], old.st, 1)
			}
		}
		if on.charge == nil && old.charge != nil {
			s.chargeNode(&old, 1)
		}
		if old.claims != nil {
			old.claims = claims
		}
		*on = old
	}
}
