package scheduling

import (
	"cmp"
	"maps"
	"slices"
)

const (
	// refineLooks bounds the work of refining a plan, in looks at a node for a pod:
	// larger plans are left as packing made them, which is near the bound there; on
	// small ones a node too many is a large share.
	refineLooks = 8000
	// refineCopies bounds what is copied to come back to.
	refineCopies = 100_000
	// refineTrade is the part of the price that a node less is worth.
	refineTrade = 0.005
)

// refine takes nodes to open away, one by one and two by two, the emptiest for
// their price first, and places their pods anew by every rule, beside the others,
// which may become larger: where that costs less it stays so.
func (s *solver) refine(nodes []*openNode) []*openNode {
	order := make([]*openNode, 0, len(nodes))
	pods := 0
	for _, n := range nodes {
		if len(n.pods) > 0 && n.pool.u.cols[n.col].off.ReservationID == "" && !slices.ContainsFunc(n.of, (*class).wishes) {
			order = append(order, n)
			pods += len(n.pods)
		}
	}
	looks, copies := pods*(1+len(nodes)), len(order)*(len(nodes)+len(s.standing)+len(s.tallies))
	if looks > refineLooks || copies > refineCopies {
		return nodes
	}
	slices.SortStableFunc(order, func(a, b *openNode) int {
		return cmp.Compare(b.price/s.fullness(b), a.price/s.fullness(a))
	})
	for _, n := range order {
		nodes = s.tryWithout(nodes, n)
	}
	if looks*len(order) > refineLooks || copies*len(order) > refineCopies {
		return nodes
	}
	for i, n := range order {
		for _, m := range order[i+1:] {
			if len(n.pods) > 0 && len(m.pods) > 0 {
				nodes = s.tryWithout(nodes, n, m)
			}
		}
	}
	return nodes
}

// wishes tells whether a class has preferences, which placing one by one does not
// weigh.
func (c *class) wishes() bool { return len(c.soft) > 0 || c.sig != c.shape.sig }

// fullness is the largest part of a node's room that is taken.
func (s *solver) fullness(n *openNode) float64 {
	return max(0.01, share(&n.req, &n.pool.room[n.pool.u.cols[n.col].typ], s.nd))
}

// tryWithout tries a plan without some nodes.
func (s *solver) tryWithout(nodes []*openNode, gone ...*openNode) []*openNode {
	before, weights := s.cost(nodes), podWeights(nodes)
	undo := s.rememberAll(nodes)
	for _, n := range gone {
		for len(n.pods) > 0 {
			i := len(n.pods) - 1
			s.takeOut(n.of[i], nil, n, i)
		}
	}
	if more, _ := s.placeAll(nodes); len(s.strays) == 0 && s.cost(more) < before-1e-9 && podWeights(more) >= weights {
		return more
	}
	undo()
	s.strays = nil
	return nodes
}

// podWeights adds up the weights of the NodePools that the pods are in: a cheaper
// node of a lesser pool is no gain.
func podWeights(nodes []*openNode) int64 {
	sum := int64(0)
	for _, n := range nodes {
		sum += int64(n.pool.spec.Weight) * int64(len(n.pods))
	}
	return sum
}

// cost is the price of the nodes, a node more being worth what it is in packing.
func (s *solver) cost(nodes []*openNode) float64 {
	sum, count := 0.0, 0
	for _, n := range nodes {
		if len(n.pods) > 0 {
			sum += n.price
			count++
		}
	}
	return sum * (1 + refineTrade*float64(count))
}

// rememberAll returns what puts the working state back as it is now.
func (s *solver) rememberAll(nodes []*openNode) func() {
	open := make([]openNode, len(nodes))
	for i, n := range nodes {
		open[i] = n.clone()
	}
	standing := make([]standingNode, len(s.standing))
	for i, n := range s.standing {
		standing[i] = *n
		standing[i].pods, standing[i].host, standing[i].claims = slices.Clone(n.pods), slices.Clone(n.host), maps.Clone(n.claims)
	}
	tallies := make([]tally, len(s.tallies))
	for i := range s.tallies {
		tallies[i] = s.tallies[i].clone()
	}
	used := make([][]limit, len(s.pools))
	for i, p := range s.pools {
		used[i] = slices.Clone(p.limits)
	}
	reserved := maps.Clone(s.reservedUsed)
	return func() {
		for i, n := range nodes {
			*n = open[i]
		}
		for i, n := range s.standing {
			*n = standing[i]
		}
		s.tallies = tallies
		for i, p := range s.pools {
			copy(p.limits, used[i])
		}
		s.reservedUsed = reserved
		clear(s.uncounted)
	}
}

func (n *openNode) clone() openNode {
	out := *n
	out.pods, out.of, out.host, out.claims = slices.Clone(n.pods), slices.Clone(n.of), slices.Clone(n.host), maps.Clone(n.claims)
	return out
}
