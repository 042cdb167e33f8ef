package scheduling

import (
	"slices"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// verdict tells whether what is still open about a node matters to a filter.
type verdict uint8

const (
	never verdict = iota
	perhaps
	always
)

type stateFilter struct {
	st, filter int32
	taints     bool
}

// stateCounts tells whether a spread rule counts a node in a state: the rule's
// filter lets in whatever the node becomes, some of it, or nothing.
func (s *solver) stateCounts(st int32, g *group) verdict {
	if g.kind != spread || g.filter < 0 {
		return always
	}
	k := stateFilter{st, g.filter, g.honorTaints}
	if v, ok := s.counts[k]; ok {
		return v
	}
	v := s.computeCounts(st, g)
	s.counts[k] = v
	return v
}

func (s *solver) computeCounts(st int32, g *group) verdict {
	if g.honorTaints {
		if hard, _ := s.sigs[g.filter].untolerated(s.states[st].pool.taints); hard != nil {
			return never
		}
	}
	in, whole := s.filtered(st, g)
	switch {
	case in == nil:
		return never
	case whole:
		return always
	}
	return perhaps
}

// filtered is the columns of a state that a rule's filter lets in, nil for none,
// and whether that is all, whatever the pool's own labels become.
func (s *solver) filtered(st int32, g *group) (in bitset, whole bool) {
	k := stateFilter{st, g.filter, false}
	if f, ok := s.filters[k]; ok {
		return f.in, f.whole
	}
	in, whole = s.findFiltered(st, g)
	s.filters[k] = filteredState{in, whole}
	return in, whole
}

// filteredState is what a filter lets in of a state; the set is shared.
type filteredState struct {
	in    bitset
	whole bool
}

func (s *solver) findFiltered(st int32, g *group) (in bitset, whole bool) {
	old := s.states[st]
	sure := make(bitset, len(old.cols))
	for _, t := range s.sigs[g.filter].terms {
		next := s.advance(st, s.termFilter(t))
		if next < 0 {
			continue
		}
		n := s.states[next]
		if in == nil {
			in = make(bitset, len(old.cols))
		}
		in.orWith(n.cols)
		if s.sameFree(old, n) {
			sure.orWith(n.cols)
		}
	}
	return in, in != nil && sure.equal(old.cols)
}

// filteredOf is those of some columns that a rule's filter lets in on a node in a
// state, nil for none.
func (s *solver) filteredOf(st int32, g *group, cols bitset) bitset {
	in, _ := s.filtered(st, g)
	if in == nil || !in.intersects(cols) {
		return nil
	}
	return cols.and(in)
}

// sameFree tells whether two states of a pool leave its own labels the same.
func (s *solver) sameFree(a, b *state) bool {
	for i := range a.pool.freeKeys {
		if !a.freeValue(i).equal(b.freeValue(i)) {
			return false
		}
	}
	return true
}

// freeValue is what a state leaves of the pool's own label i.
func (st *state) freeValue(i int) values {
	if st.free != nil {
		return st.free[i]
	}
	return st.pool.freeBase[i]
}

// termFilter is one term of a filter as a signature, without tolerations.
func (s *solver) termFilter(t term) int32 { return s.signatureOf([]term{t}, anyToleration) }

// settle decides what is open about the nodes and matters to a rule: which domain
// a node with pods of the rule is in, and whether the rule counts it. Then it
// holds the nodes to their pools' minValues and limits. Pods of nodes that cannot
// be are strays.
func (s *solver) settle(nodes []*openNode) {
	for _, n := range nodes {
		s.pin(n)
	}
	s.recharge(nodes)
}

// pin narrows a node's state around its column until every rule of its pods knows
// where it is.
func (s *solver) pin(n *openNode) {
	if len(s.groups) == 0 {
		return
	}
	var last *class
	for _, c := range n.of {
		if c != last {
			n.st = s.pinFor(c, n.st, n.col)
		}
		last = c
	}
}

// pinFor narrows a state around a column for the rules of a class.
func (s *solver) pinFor(c *class, st, col int32) int32 {
	for _, r := range c.hard {
		g := s.groups[r.g]
		if g.host() {
			continue
		}
		if _, ok := s.domainOfState(st, g.key); !ok {
			if name, ok := s.domainOfColumn(st, col, g.key); ok {
				if next := s.advance(st, s.signatureOf([]term{{{g.key, oneOf(name)}}}, anyToleration)); next >= 0 {
					st = next
				}
			}
		}
		if r.match && s.stateCounts(st, g) == perhaps {
			st = s.sideOf(st, col, g)
		}
	}
	return st
}

// sideOf is the part of a state that a rule's filter lets in, or the other,
// whichever has the column.
func (s *solver) sideOf(st, col int32, g *group) int32 {
	for _, t := range s.sigs[g.filter].terms {
		if next := s.advance(st, s.termFilter(t)); next >= 0 && s.states[next].cols.has(int(col)) {
			return next
		}
	}
	in, _ := s.filtered(st, g)
	return s.without(st, in)
}

// without is a state with some of its columns left out.
func (s *solver) without(st int32, out bitset) int32 {
	old := s.states[st]
	rest := old.cols.clone()
	for w := range out {
		rest[w] &^= out[w]
	}
	return s.internState(&state{pool: old.pool, cols: rest, free: old.free})
}

// domainOfColumn is the value of a key that a node in a state has as one column.
func (s *solver) domainOfColumn(st, col int32, key string) (string, bool) {
	p := s.states[st].pool
	if _, ok := slices.BinarySearch(p.freeKeys, key); ok {
		vs := s.stateValues(st, key)
		if len(vs) == 0 {
			return "", false
		}
		return vs[0], true
	}
	return p.u.columnValue(key, int(col))
}

// recharge counts limits and reservations anew, and takes the pods of nodes off
// that break them or that are too few types for minValues.
func (s *solver) recharge(nodes []*openNode) {
	for _, p := range s.pools {
		for i := range p.limits {
			p.limits[i].used = s.p.Pools[p.source].InUse.Get(p.limits[i].name)
		}
	}
	clear(s.reservedUsed)
	order := nodes
	if s.limited() {
		order = slices.Clone(nodes)
		slices.SortStableFunc(order, func(a, b *openNode) int { return int(highest(b)) - int(highest(a)) })
	}
	for _, n := range order {
		if len(n.pods) > 0 && !s.commit(n) {
			s.dissolve(n)
		}
	}
}

// highest is the highest priority among a node's pods.
func highest(n *openNode) int64 {
	var h int64
	for i, c := range n.of {
		if p := int64(c.shape.priority); i == 0 || p > h {
			h = p
		}
	}
	return h
}

// commit charges a node to its pool's limits and its reservation; false when they
// do not allow it, or minValues do not.
func (s *solver) commit(n *openNode) bool {
	off := n.pool.u.cols[n.col].off
	if off.ReservationID != "" && !s.reservationFree(off) {
		return false
	}
	c, ok := s.commitment(n.pool, n.st, n.col, &n.req, nil)
	if !ok {
		return false
	}
	n.col, n.price, n.charge = c.col, n.pool.u.cols[c.col].price, c.charge
	s.chargeNode(n, 1)
	return true
}

func (s *solver) chargeNode(n *openNode, sign int64) {
	for i := range n.pool.limits {
		n.pool.limits[i].used += n.charge[i] * sign
	}
	if off := n.pool.u.cols[n.col].off; off.ReservationID != "" {
		s.reservedUsed[off.ReservationID] += sign
	}
}

// giveBack returns what an emptied node was charged.
func (s *solver) giveBack(n *openNode) {
	if n.charge != nil {
		s.chargeNode(n, -1)
		n.charge = nil
	}
}

// dissolve hands all pods of a node to the strays. It keeps no account of topology:
// the rules are counted anew afterwards.
func (s *solver) dissolve(n *openNode) {
	for i, pod := range n.pods {
		s.stray(n.of[i], []int32{pod})
	}
	n.pods, n.of, n.host, n.req = nil, nil, nil, vec{}
}

// strict tells whether a pool's minValues bind its launches.
func (s *solver) strict(p *pool) bool {
	if s.p.Options.MinValuesBestEffort {
		return false
	}
	for _, mv := range p.minValues {
		if mv.n > 1 {
			return true
		}
	}
	return false
}

// commitment is what a node must be able to become at the least.
type commitment struct {
	col    int32   // the cheapest
	charge []int64 // what counts against each limit of the pool: the largest of it
	types  []int32
	zones  []string
	ctypes []string
}

// commitment finds what a node in a state with a load must be able to become:
// one column, or, where minValues bind, a choice with enough values, as small as
// the limits ask. col is the column that it has (-1: any). old is what the node is
// charged already.
func (s *solver) commitment(p *pool, st, col int32, req *vec, old []int64) (commitment, bool) {
	if !s.strict(p) || col >= 0 && p.u.cols[col].off.ReservationID != "" {
		if col < 0 || s.strict(p) {
			return commitment{}, false
		}
		t := p.u.cols[col].typ
		if !s.withinLimits(p, t, old) {
			return commitment{}, false
		}
		return commitment{col: col, charge: p.caps(t)}, true
	}
	usable := s.usable(p, st, req, func(t int32) bool { return s.withinLimits(p, t, old) })
	order := p.bySize()
	var best commitment
	found := false
	for _, narrow := range narrowings(p.u, usable) {
		ch := &choices{}
		if !s.tryProduct(p, usable, narrow, ch, order, true) {
			continue
		}
		c := commitment{col: ch.col, charge: p.largest(ch.types), types: ch.types, zones: ch.zones, ctypes: ch.ctypes}
		if !found || len(p.limits) > 0 && p.smaller(c.charge, best.charge) {
			best, found = c, true
		}
		if len(p.limits) == 0 {
			break
		}
	}
	return best, found
}

// usable are the columns of a state that hold a load, generic types alone where
// those have values enough.
func (s *solver) usable(p *pool, st int32, req *vec, allowed func(t int32) bool) bitset {
	u := p.u
	out, generic := newBitset(len(u.cols)), newBitset(len(u.cols))
	s.states[st].cols.each(func(i int) {
		c := &u.cols[i]
		if c.off.ReservationID != "" || !req.within(&p.room[c.typ], s.nd) || !allowed(c.typ) {
			return
		}
		out.set(i)
		if !u.types[c.typ].Exotic {
			generic.set(i)
		}
	})
	if !generic.empty() && s.enoughValues(p, generic) {
		return generic
	}
	return out
}

// withinLimits tells whether the limits allow a node of a type beside the others,
// in the place of what it is charged already.
func (s *solver) withinLimits(p *pool, t int32, old []int64) bool {
	for i := range p.limits {
		used := p.limits[i].used + p.limits[i].cap[t]
		if old != nil {
			used -= old[i]
		}
		if used > p.limits[i].max {
			return false
		}
	}
	return true
}

func (p *pool) caps(t int32) []int64 {
	out := make([]int64, len(p.limits))
	for i := range p.limits {
		out[i] = p.limits[i].cap[t]
	}
	return out
}

// largest is the most that any of the types counts against each limit.
func (p *pool) largest(types []int32) []int64 {
	out := make([]int64, len(p.limits))
	for i := range p.limits {
		for _, t := range types {
			out[i] = max(out[i], p.limits[i].cap[t])
		}
	}
	return out
}

// smaller compares charges by the part of a limit that they take at most.
func (p *pool) smaller(a, b []int64) bool { return p.part(a) < p.part(b)-1e-12 }

func (p *pool) part(charge []int64) float64 {
	most := 0.0
	for i := range p.limits {
		most = max(most, float64(charge[i])/max(1, float64(p.limits[i].max)))
	}
	return most
}

// bySize is the columns in the order in which a node with minValues takes them:
// those that count least against the limits first, then by price.
func (p *pool) bySize() []int32 {
	if len(p.limits) == 0 {
		return p.u.byPrice()
	}
	if p.sized == nil {
		p.sized = slices.Clone(p.u.byPrice())
		part := make([]float64, len(p.u.types))
		for t := range part {
			part[t] = p.part(p.caps(int32(t)))
		}
		slices.SortStableFunc(p.sized, func(a, b int32) int {
			switch x, y := part[p.u.cols[a].typ], part[p.u.cols[b].typ]; {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
	}
	return p.sized
}

// narrowings are the ways to narrow usable columns to a product: none; the capacity
// type, the zone, or both of the cheapest column; then those of the others.
func narrowings(u *universe, usable bitset) []func(o *cluster.Offering) bool {
	all := func(*cluster.Offering) bool { return true }
	out := []func(o *cluster.Offering) bool{all}
	type place struct{ zone, ctype string }
	seen := map[place]bool{}
	for _, i := range u.byPrice() {
		if !usable.has(int(i)) {
			continue
		}
		o := u.cols[i].off
		zone, ctype := o.Zone, o.CapacityType
		add := func(pl place) {
			if !seen[pl] {
				seen[pl] = true
				out = append(out, func(o *cluster.Offering) bool {
					return (pl.zone == "" || o.Zone == pl.zone) && (pl.ctype == "" || o.CapacityType == pl.ctype)
				})
			}
		}
		add(place{"", ctype})
		add(place{zone, ""})
		add(place{zone, ctype})
	}
	return out
}
