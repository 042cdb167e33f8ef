package scheduling

import (
	"math"
	"slices"
	"sort"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// placeStrays finds places one by one for the pods that bulk packing left, by
// every rule: on standing nodes, on the nodes to open (which may become larger),
// on nodes of their own. It repeats while something is placed, since a pod may
// be what another waits for.
func (s *solver) placeStrays(nodes []*openNode) []*openNode {
	s.enforce(nodes)
	for len(s.strays) > 0 {
		todo := s.strays
		s.strays = nil
		sort.SliceStable(todo, func(i, j int) bool {
			a, b := todo[i].c.shape.priority, todo[j].c.shape.priority
			if a != b {
				return a > b
			}
			return s.rank[todo[i].pods[0]] < s.rank[todo[j].pods[0]]
		})
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
		if placed == 0 || len(s.strays) == 0 {
			break
		}
	}
	return nodes
}

// place is a place for one pod.
type place struct {
	standing *standingNode
	node     *openNode
	st       int32
	col      int32
	price    float64
	extra    float64 // what it costs more than before
	domains  []domainOf
}

type domainOf struct {
	key, name string
}

// placeOne puts a pod in the first standing node that admits it, else where it
// costs least.
func (s *solver) placeOne(c *class, pod int32, nodes []*openNode) ([]*openNode, bool) {
	host := s.hostParts(c, 1)
	keys := s.keysOf(c)
	sigs := s.alternatives(c)
	for _, sig := range sigs {
		if p, ok := s.onStanding(c, sig, host, keys); ok {
			n := p.standing
			n.free.sub(&c.req, s.nd)
			n.host = n.host.with(host, 1)
			n.pods = append(n.pods, pod)
			s.bookPlaced(c, host, p.domains)
			return nodes, true
		}
	}
	best := place{extra: math.Inf(1)}
	for _, sig := range sigs {
		for _, n := range nodes {
			if s.hostCap(n.host, host) > 0 {
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
	} else {
		s.charge(best.node.pool, best.node.pool.u.cols[best.node.col].typ, -1)
	}
	n := best.node
	s.moveReservation(n, best.col)
	n.st, n.col, n.price = best.st, best.col, best.price
	if n.pool.u.cols[n.col].off.ReservationID != "" {
		n.st = s.onlyColumn(n.st, n.col)
	}
	s.charge(n.pool, n.pool.u.cols[n.col].typ, 1)
	n.req.add(&c.req, s.nd)
	n.host = slices.Clone(n.host).with(host, 1)
	n.pods = append(n.pods, pod)
	n.of = append(n.of, c)
	s.bookPlaced(c, host, best.domains)
	return nodes, true
}

// moveReservation counts the reservation that a node takes, and gives back the
// one that it had.
func (s *solver) moveReservation(n *openNode, col int32) {
	if len(n.pods) > 0 {
		if id := n.pool.u.cols[n.col].off.ReservationID; id != "" {
			s.reservedUsed[id]--
		}
	}
	if id := n.pool.u.cols[col].off.ReservationID; id != "" {
		s.reservedUsed[id]++
	}
}

// onlyColumn is a state with one column left: a node of a reservation is nothing
// else.
func (s *solver) onlyColumn(st, col int32) int32 {
	old := s.states[st]
	only := newBitset(len(old.cols))
	only.set(int(col))
	return s.internState(&state{pool: old.pool, cols: only, free: old.free})
}

func (s *solver) charge(p *pool, t int32, by int64) {
	for i := range p.limits {
		p.limits[i].used += p.limits[i].cap[t] * by
	}
}

func (s *solver) bookPlaced(c *class, host []hostPart, domains []domainOf) {
	for _, h := range host {
		s.tallies[h.g].total += h.cnt
	}
	for _, d := range domains {
		for _, r := range c.hard {
			s.book(d.key, r, d.name)
		}
	}
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

func (s *solver) onStanding(c *class, sig int32, host []hostPart, keys []string) (place, bool) {
	for _, n := range s.standing {
		if n.closed || !c.req.within(&n.free, s.nd) || !s.nodeAllows(n, sig) || s.hostCap(n.host, host) < 1 {
			continue
		}
		var ds []domainOf
		ok := true
		for _, key := range keys {
			name, has := n.labels[key]
			if !has {
				// A node without the label is in no domain: a spread or an
				// affinity cannot be met there, anti-affinity cannot be broken.
				ok = ok && !s.needsDomain(c, key)
				continue
			}
			if !s.domainAdmits(key, c, name) {
				ok = false
				break
			}
			ds = append(ds, domainOf{key, name})
		}
		if ok {
			return place{standing: n, domains: ds}, true
		}
	}
	return place{}, false
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
	req := n.req
	req.add(&c.req, s.nd)
	s.inDomains(c, sig, keys, n.st, nil, func(st int32, ds []domainOf) {
		p := n.pool
		s.cheapest(st, &req, func(col int32) bool {
			t := p.u.cols[col].typ
			return s.limitAllows(p, t, p.u.cols[n.col].typ)
		}, func(col int32) {
			price := p.u.cols[col].price
			if extra := price - n.price; extra < best.extra-1e-12 {
				*best = place{node: n, st: st, col: col, price: price, extra: extra, domains: slices.Clone(ds)}
			}
		})
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
		s.inDomains(c, sig, keys, s.baseState(p), nil, func(st int32, ds []domainOf) {
			s.cheapest(st, &c.req, func(col int32) bool { return s.limitAllows(p, p.u.cols[col].typ, -1) }, func(col int32) {
				price := p.u.cols[col].price
				found, weight = true, p.spec.Weight
				if price < best.extra-1e-12 {
					*best = place{st: st, col: col, price: price, extra: price, domains: slices.Clone(ds)}
				}
			})
		})
	}
	return found
}

// limitAllows tells whether a pool's limits allow a node of type t in the place
// of one of type old (-1: beside the others).
func (s *solver) limitAllows(p *pool, t, old int32) bool {
	for i := range p.limits {
		l := &p.limits[i]
		used := l.used + l.cap[t]
		if old >= 0 {
			used -= l.cap[old]
		}
		if used > l.max {
			return false
		}
	}
	return true
}

// inDomains calls f for each combination of domains that the rules admit, with
// the node's state pinned to it.
func (s *solver) inDomains(c *class, sig int32, keys []string, st int32, ds []domainOf, f func(st int32, ds []domainOf)) {
	next := s.advance(st, sig)
	if next < 0 {
		return
	}
	if len(keys) == 0 {
		f(next, ds)
		return
	}
	key := keys[0]
	names := s.stateValues(next, key)
	if len(names) == 0 && !s.needsDomain(c, key) {
		s.inDomains(c, sig, keys[1:], next, ds, f)
		return
	}
	for _, name := range names {
		if s.domainAdmits(key, c, name) {
			s.inDomains(c, s.pinned(sig, key, oneOf(name)), keys[1:], next, append(ds, domainOf{key, name}), f)
		}
	}
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

// cheapest calls f for the cheapest column of a state that holds a request: of
// reserved ones those that are not used up, exotic types only when nothing else is.
func (s *solver) cheapest(id int32, req *vec, allowed func(col int32) bool, f func(col int32)) {
	st := s.states[id]
	best, bestExotic := int32(-1), int32(-1)
	alone := st.cols.count() == 1 // a node of a reservation
	st.cols.each(func(i int) {
		c := &st.pool.u.cols[i]
		if c.off.ReservationID != "" && !alone && !(s.reservationFree(c.off) && s.singleChoice(st.pool)) || !req.within(&st.pool.room[c.typ], s.nd) || !allowed(int32(i)) {
			return
		}
		slot := &best
		if st.pool.u.types[c.typ].Exotic {
			slot = &bestExotic
		}
		if *slot < 0 || c.price < st.pool.u.cols[*slot].price {
			*slot = int32(i)
		}
	})
	if best < 0 {
		best = bestExotic
	}
	if best >= 0 && s.minValuesHold(id, req) {
		f(best)
	}
}
