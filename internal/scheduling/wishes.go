package scheduling

import "math"

// hostWish is a rule of the node that an item would like to see kept.
type hostWish struct {
	g      int32
	kind   groupKind
	weight float64 // part of the pod's price that it is worth
	match  bool    // the item's pods are among those that the rule counts
}

// hostWishes are a class's preferred rules of the node.
func (s *solver) hostWishes(c *class) []hostWish {
	var out []hostWish
	for _, r := range c.soft {
		if g := s.groups[r.g]; g.host() && r.own {
			out = append(out, hostWish{r.g, g.kind, float64(r.weight) / 100, r.match})
		}
	}
	return out
}

// apart tells whether the item's pods would like to be on different nodes, and
// what that is worth.
func (it *item) apart() (float64, bool) {
	for _, w := range it.soft {
		if w.match && w.kind != affinity {
			return w.weight, true
		}
	}
	return 0, false
}

// wishParts is what a unit counts for the rules that are only wished for.
func (it *item) wishParts() []hostPart {
	var out []hostPart
	for _, w := range it.soft {
		if w.match {
			out = append(out, hostPart{g: w.g, cnt: 1})
		}
	}
	return out
}

// regret is how much an item would rather not be on a node with such pods.
func (it *item) regret(h hostState) float64 {
	r := 0.0
	for _, w := range it.soft {
		_, cnt := h.get(w.g)
		switch {
		case w.kind == affinity && cnt == 0:
			r += w.weight
		case w.kind != affinity:
			r += w.weight * float64(cnt)
		}
	}
	return r
}

// Beyond so many units or nodes wishes among standing nodes are not looked at: it
// takes a look at each node for each unit.
const (
	wishUnits = 500
	wishNodes = 2000
)

// offerWishes puts the units of an item on standing nodes one by one, each where
// it likes best to be.
func (s *solver) offerWishes(open []*standingNode, it *item) {
	for it.n > 0 {
		var best *standingNode
		least := math.Inf(1)
		for _, n := range open {
			if !it.req.within(&n.free, s.nd) || !s.nodeAllows(n, it.sig) || s.hostCap(n.host, it.host) <= 0 {
				continue
			}
			r := it.regret(n.host)
			if _, soft := s.sigs[it.sig].untolerated(n.taints); soft {
				r += softTaintWeight
			}
			if r < least {
				best, least = n, r
			}
		}
		if best == nil {
			return
		}
		s.land(best, it, 1)
		best.host = best.host.with(it.wishParts(), 1)
	}
}

// spreadOut makes a run in which items that would like to be on different nodes are
// dealt out over as many nodes as a plan without the wish has anyway. It is taken
// where it costs no more than the wishes are worth.
func (pk *packer) spreadOut() *packer {
	s := pk.s
	worth := 0.0
	any := false
	for i, it := range s.items {
		w, wants := it.apart()
		if n := pk.start[i]; wants && n > 1 && pk.nodes > 0 {
			it.softCap = max(1, (n+pk.nodes-1)/pk.nodes)
			worth += w * it.value0 * float64(n)
			any = true
		}
	}
	if !any || pk.unplaced() > 0 {
		return pk
	}
	alt := s.newPacker(pk.round, pk.start, pk.opt)
	alt.run()
	if alt.unplaced() > 0 || alt.price > pk.price+worth {
		for _, it := range s.items {
			it.softCap = 0
		}
		return pk
	}
	return alt
}
