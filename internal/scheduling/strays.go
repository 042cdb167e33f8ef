package scheduling

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// strayRounds is how often the strays are placed and the rules counted anew.
const strayRounds = 4

// placeStrays finds places one by one for the pods that bulk packing left, by
// every rule: on standing nodes, on the nodes to open (which may become larger),
// on nodes of their own. A new node may bring a domain into being that a rule of
// others counts, so the rules are counted anew until nothing breaks one.
func (s *solver) placeStrays(nodes []*openNode) []*openNode {
	s.settle(nodes)
	s.enforce(nodes)
	for round := 0; round < strayRounds && len(s.strays) > 0; round++ {
		var placed, moved bool
		nodes, placed = s.placeAll(nodes)
		if round < strayRounds-1 {
			nodes, moved = s.displace(nodes)
		}
		if !placed && !moved {
			break
		}
		s.enforce(nodes)
	}
	if len(s.strays) == 0 {
		nodes = s.refine(nodes)
		s.enforce(nodes)
		if len(s.strays) > 0 {
			nodes, _ = s.placeAll(nodes)
		}
	}
	return nodes
}

// placeAll places what it can, and tells whether that was anything. It repeats
// while something is placed, since a pod may be what another waits for.
func (s *solver) placeAll(nodes []*openNode) ([]*openNode, bool) {
	any := false
	for len(s.strays) > 0 {
		todo := s.gatherStrays()
		s.strays = nil
		placed := 0
		for _, sp := range todo {
			for k, pod := range sp.pods {
				n, ok := s.placeOne(sp.c, pod, nodes)
				if !ok {
					s.stray(sp.c, sp.pods[k:])
					break
				}
				nodes = n
				placed++
			}
		}
		any = any || placed > 0
		if placed == 0 {
			break
		}
	}
	return nodes, any
}

// gatherStrays joins the strays of a class: the highest priority first, then the
// larger ones.
func (s *solver) gatherStrays() []strayPods {
	index := map[*class]int{}
	var out []strayPods
	for _, sp := range s.strays {
		i, ok := index[sp.c]
		if !ok {
			i = len(out)
			index[sp.c] = i
			out = append(out, strayPods{c: sp.c})
		}
		out[i].pods = append(out[i].pods, sp.pods...)
	}
	for i := range out {
		slices.SortFunc(out[i].pods, func(a, b int32) int { return int(s.rank[a]) - int(s.rank[b]) })
	}
	slices.SortStableFunc(out, func(a, b strayPods) int {
		return cmp.Or(cmp.Compare(b.c.shape.priority, a.c.shape.priority), cmp.Compare(s.bulk(&b.c.req), s.bulk(&a.c.req)), cmp.Compare(s.rank[a.pods[0]], s.rank[b.pods[0]]))
	})
	return out
}

// place is a place for one pod.
type place struct {
	node   *openNode // nil: one of its own
	st     int32
	col    int32
	charge []int64
	price  float64
	extra  float64 // what it costs more than before
}

// placeOne puts a pod in the first standing node that admits it, else where it
// costs least.
func (s *solver) placeOne(c *class, pod int32, nodes []*openNode) ([]*openNode, bool) {
	host := s.hostParts(c, 1)
	keys := s.keysOf(c)
	sigs := s.alternatives(c)
	for _, sig := range sigs {
		if n := s.onStanding(c, sig, host, keys); n != nil {
			s.putStanding(n, c, pod, host)
			return nodes, true
		}
	}
	best := place{extra: math.Inf(1)}
	for _, sig := range sigs {
		for _, n := range nodes {
			if best.extra <= 1e-12 {
				break
			}
			if len(n.pods) > 0 && s.hostCap(n.host, host) > 0 {
				s.onOpen(c, sig, keys, n, &best)
			}
		}
	}
	if !(best.extra <= 1e-12) {
		for _, sig := range sigs {
			if s.onNew(c, sig, host, keys, &best) {
				break
			}
		}
	}
	if math.IsInf(best.extra, 1) {
		return nodes, false
	}
	if best.node == nil {
		best.node = &openNode{pool: s.states[best.st].pool}
		nodes = append(nodes, best.node)
	}
	s.putOpen(&best, c, pod, host)
	return nodes, true
}

func (s *solver) putStanding(n *standingNode, c *class, pod int32, host []hostPart) {
	req := s.onStandingNode(c, n)
	n.free.sub(&req, s.nd)
	if n.claims != nil {
		c.noteClaims(n.claims, 1)
	}
	n.host = n.host.with(host, 1)
	n.pods = append(n.pods, pod)
	s.bookAt(c, n, 1)
}

func (s *solver) putOpen(p *place, c *class, pod int32, host []hostPart) {
	n := p.node
	s.giveBack(n)
	n.col, n.price, n.charge = p.col, p.price, p.charge
	n.st = s.pinFor(c, p.st, p.col)
	if n.pool.u.cols[n.col].off.ReservationID != "" {
		n.st = s.onlyColumn(n.st, n.col)
	}
	s.chargeNode(n, 1)
	req := s.onOpenNode(c, n)
	n.req.add(&req, s.nd)
	if n.claims != nil {
		c.noteClaims(n.claims, 1)
	}
	n.host = slices.Clone(n.host).with(host, 1)
	n.pods = append(n.pods, pod)
	n.of = append(n.of, c)
	s.bookOpen(c, n.st, 1)
}

// onlyColumn is a state with one column left: a node of a reservation is nothing
// else.
func (s *solver) onlyColumn(st, col int32) int32 {
	old := s.states[st]
	only := make(bitset, len(old.cols))
	only.set(int(col))
	return s.internState(&state{pool: old.pool, cols: only, free: old.free})
}

// keysOf lists the topology keys of a class's hard rules, the node's name excepted.
func (s *solver) keysOf(c *class) []string {
	var out []string
	for _, r := range c.hard {
		if k := s.groups[r.g].key; k != hostKey && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	sort.Strings(out)
	return out
}

// alternatives are the signatures that a class may be placed by: its own, with
// preferences honoured; the shape's, without; and, where OR-terms ask for
// different labels of the pool's own, each term alone.
func (s *solver) alternatives(c *class) []int32 {
	out := []int32{c.sig}
	if c.shape.sig != c.sig {
		out = append(out, c.shape.sig)
	}
	g := s.sigs[c.shape.sig]
	if len(g.terms) > 1 {
		for _, t := range g.terms {
			out = append(out, s.signatureWith([]term{t}, g.ports, g.tolers, g.more...))
		}
	}
	return out
}

// onStanding is the first standing node that admits a pod, nil when there is none.
func (s *solver) onStanding(c *class, sig int32, host []hostPart, keys []string) *standingNode {
	for _, n := range s.standing {
		if s.standingAdmits(n, c, sig, host, keys) {
			return n
		}
	}
	return nil
}

func (s *solver) standingAdmits(n *standingNode, c *class, sig int32, host []hostPart, keys []string) bool {
	if n.closed || !s.nodeAllows(n, sig) || s.hostCap(n.host, host) < 1 {
		return false
	}
	if req := s.onStandingNode(c, n); !req.within(&n.free, s.nd) {
		return false
	}
	in := func(g *group) bool { return s.passesFilter(n, g) }
	for _, key := range keys {
		name, has := n.labels[key]
		if !has {
			// A node without the label is in no domain: a spread or an
			// affinity cannot be met there, anti-affinity cannot be broken.
			if s.needsDomain(c, key) {
				return false
			}
			continue
		}
		if !s.admitsIn(key, c, name, in) {
			return false
		}
	}
	return true
}

// admitsIn checks every hard rule of a key for a pod in a domain, on a node that
// the filters of spread rules let in or not.
func (s *solver) admitsIn(key string, c *class, name string, in func(g *group) bool) bool {
	for _, r := range c.hard {
		g := s.groups[r.g]
		if g.key != key {
			continue
		}
		if !r.own && r.match && g.kind == spread && !in(g) {
			continue
		}
		t := &s.tallies[r.g]
		if !t.admits(g, r, t.domain(name)) {
			return false
		}
	}
	return true
}

func (s *solver) needsDomain(c *class, key string) bool {
	for _, r := range c.hard {
		if g := s.groups[r.g]; g.key == key && r.own && g.kind != anti {
			return true
		}
	}
	return false
}

// onOpen tries a node that is to be opened anyway.
func (s *solver) onOpen(c *class, sig int32, keys []string, n *openNode, best *place) {
	req := s.onOpenNode(c, n)
	req.add(&n.req, s.nd)
	s.inDomains(c, sig, keys, n.st, func(st int32) {
		if p, ok := s.cheapest(c, st, &req, n); ok {
			if p.extra = p.price - n.price; p.extra < best.extra-1e-12 {
				p.node = n
				*best = p
			}
		}
	})
}

// onNew tries a node of its own, the heaviest pools first; true when one was found.
func (s *solver) onNew(c *class, sig int32, host []hostPart, keys []string, best *place) bool {
	if s.hostCap(nil, host) < 1 {
		return false
	}
	found := false
	weight := int32(0)
	for _, p := range s.pools {
		if found && p.spec.Weight < weight {
			break
		}
		s.inDomains(c, sig, keys, s.baseState(p), func(st int32) {
			pl, ok := s.cheapest(c, st, &c.req, nil)
			if !ok {
				return
			}
			found, weight = true, p.spec.Weight
			if pl.extra = pl.price; pl.extra < best.extra-1e-12 {
				*best = pl
			}
		})
	}
	return found
}

// inDomains calls f for each combination of domains that the rules admit, with
// the node's state pinned to it.
func (s *solver) inDomains(c *class, sig int32, keys []string, st int32, f func(st int32)) {
	next := s.advance(st, sig)
	if next < 0 {
		return
	}
	if len(keys) == 0 {
		f(next)
		return
	}
	key := keys[0]
	names := s.stateValues(next, key)
	if len(names) == 0 && !s.needsDomain(c, key) {
		s.inDomains(c, sig, keys[1:], next, f)
		return
	}
	for _, name := range names {
		at := s.pinned(sig, key, oneOf(name))
		there := s.advance(next, at)
		if there >= 0 && s.admitsIn(key, c, name, func(g *group) bool { return s.stateCounts(there, g) != never }) {
			s.inDomains(c, at, keys[1:], there, f)
		}
	}
	if s.mayLack(next, key) && !s.needsDomain(c, key) {
		// Without the label the node is in no domain, where nothing repels.
		at := s.pinned(sig, key, valuesOf(cluster.DoesNotExist, nil))
		if there := s.advance(next, at); there >= 0 {
			s.inDomains(c, at, keys[1:], there, f)
		}
	}
}

// mayLack tells whether a node in a state may be without one of the pool's own
// labels.
func (s *solver) mayLack(id int32, key string) bool {
	st := s.states[id]
	i, ok := slices.BinarySearch(st.pool.freeKeys, key)
	return ok && st.freeValue(i).absent
}

// stateValues are the values that a node in a state may still have for a key.
func (s *solver) stateValues(id int32, key string) []string {
	st := s.states[id]
	if i, ok := slices.BinarySearch(st.pool.freeKeys, key); ok {
		v := st.pool.freeBase[i]
		if st.free != nil {
			v = st.free[i]
		}
		if !v.neg {
			return v.list
		}
		if name, ok := v.pick(); ok {
			return []string{name}
		}
		return nil
	}
	return st.pool.u.valuesIn(key, st.cols)
}

// reservationFree tells whether reserved capacity is left.
func (s *solver) reservationFree(o *cluster.Offering) bool {
	return s.reservedUsed[o.ReservationID] < o.ReservationCount
}

// cheapest is the cheapest that a node in a state with a load may be: of reserved
// columns those that are not used up, exotic types only when nothing else is. n is
// the node as it is planned, nil for a new one.
func (s *solver) cheapest(c *class, id int32, req *vec, n *openNode) (place, bool) {
	st := s.states[id]
	p := st.pool
	var old []int64
	if n != nil {
		old = n.charge
		if p.u.cols[n.col].off.ReservationID != "" {
			// What is reserved stays so.
			if !st.cols.has(int(n.col)) || !req.within(&p.room[p.u.cols[n.col].typ], s.nd) {
				return place{}, false
			}
			return place{st: id, col: n.col, charge: n.charge, price: n.price}, true
		}
	}
	if s.strict(p) {
		m, ok := s.commitment(p, id, -1, req, old)
		if !ok {
			return place{}, false
		}
		if at := s.pinFor(c, id, m.col); at != id {
			// What the rules of its pods pin leaves fewer types.
			if m, ok = s.commitment(p, at, m.col, req, old); !ok {
				return place{}, false
			}
			id = at
		}
		return place{st: id, col: m.col, charge: m.charge, price: p.u.cols[m.col].price}, true
	}
	if n != nil && st.cols.has(int(n.col)) && req.within(&p.room[p.u.cols[n.col].typ], s.nd) {
		return place{st: id, col: n.col, charge: n.charge, price: n.price}, true
	}
	best := s.cheapestColumn(id, req, old)
	if best < 0 {
		return place{}, false
	}
	return place{st: id, col: best, charge: p.caps(p.u.cols[best].typ), price: p.u.cols[best].price}, true
}

// cheapestColumn is the cheapest column of a state that holds a load and that limits
// and reservations allow, -1 for none. Where neither is in play the answer is kept.
func (s *solver) cheapestColumn(id int32, req *vec, old []int64) int32 {
	st := s.states[id]
	p := st.pool
	key := choiceKey{id, *req}
	if !p.counted() {
		if col, ok := s.cheap[key]; ok {
			return col
		}
	}
	best, bestExotic := int32(-1), int32(-1)
	st.cols.each(func(i int) {
		c := &p.u.cols[i]
		if c.off.ReservationID != "" && !s.reservationFree(c.off) || !req.within(&p.room[c.typ], s.nd) || !s.withinLimits(p, c.typ, old) {
			return
		}
		slot := &best
		if p.u.types[c.typ].Exotic {
			slot = &bestExotic
		}
		if *slot < 0 || c.price < p.u.cols[*slot].price {
			*slot = int32(i)
		}
	})
	if best < 0 {
		best = bestExotic
	}
	if !p.counted() {
		s.cheap[key] = best
	}
	return best
}

// counted tells whether what a pool may open depends on what it has opened.
func (p *pool) counted() bool { return len(p.limits) > 0 || p.u.reserves }
