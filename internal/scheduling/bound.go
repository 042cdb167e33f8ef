package scheduling

import "slices"

// lowerBound is a price an hour that no set of new nodes for the placed pods can
// beat. It is the value of a feasible solution of the dual of the fractional
// relaxation: every resource of every column has a weight with
// w·room ≤ price, and a pod is worth w·request at the least weight of the
// columns that it may use. Rules of topology only make plans dearer, so they may
// be left out. Columns are weighed signature by signature; the weights that give
// the highest bound are kept. Where rules of the node force many nodes, their
// number times the cheapest node that holds one such pod is a second bound.
// Reserved capacity is paid for already: its nodes and their pods do not count.
// Exotic types, which no plan may open for pods that others hold, are left out
// where no pod needed one; beside one that does any pod may ride along.
func (s *solver) lowerBound(nodes []*openNode) float64 {
	type demand struct {
		sig   int32
		parts map[vec]int64 // pods by what they ask for
		total vec
	}
	bySig := map[int32]*demand{}
	var list []*demand
	s.exoticOpen = false
	for _, n := range nodes {
		if n.pool.u.cols[n.col].off.ReservationID != "" {
			continue // paid for already
		}
		s.exoticOpen = s.exoticOpen || n.pool.u.types[n.pool.u.cols[n.col].typ].Exotic
		for _, c := range n.of {
			d := bySig[c.shape.sig]
			if d == nil {
				d = &demand{sig: c.shape.sig, parts: map[vec]int64{}}
				bySig[c.shape.sig] = d
				list = append(list, d)
			}
			req := c.unshared()
			d.parts[req]++
			d.total.add(&req, s.nd)
		}
	}
	if len(list) == 0 {
		return 0
	}
	b := dualBound{s: s, areas: s.areas(len(list), func(i int) (int32, *vec) { return list[i].sig, &list[i].total })}
	for _, d := range list {
		b.demand = append(b.demand, &d.total)
		b.parts = append(b.parts, orderedParts(d.parts, s.nd))
	}
	return max(b.maximum(), s.hostBound(nodes))
}

// area is columns of one pool that the same signatures may use.
type area struct {
	sigs   bitset
	offers []offer
	w      weights
}

// boundPart is pods of one signature that ask for the same.
type boundPart struct {
	req vec
	n   float64
}

// orderedParts lists parts in an order of their own: sums of numbers that are not
// exact depend on it.
func orderedParts(parts map[vec]int64, nd int) []boundPart {
	out := make([]boundPart, 0, len(parts))
	for req, n := range parts {
		out = append(out, boundPart{req, float64(n)})
	}
	slices.SortFunc(out, func(a, b boundPart) int { return slices.Compare(a.req[:nd], b.req[:nd]) })
	return out
}

// maximum maximises the dual over weights taken from each signature's own program.
func (b *dualBound) maximum() float64 {
	n := len(b.demand)
	for _, v := range b.demand {
		b.all.add(v, b.s.nd)
	}
	every := newBitset(n)
	every.setRange(0, n)
	b.raise(every, &b.all)
	for i := 0; i < n; i++ {
		only := newBitset(n)
		only.set(i)
		b.raise(only, b.demand[i])
		b.raise(only, &b.all)
	}
	return b.best
}

// dualBound is a solution of the dual on its way up.
type dualBound struct {
	s      *solver
	areas  []*area
	demand []*vec // by signature
	parts  [][]boundPart
	all    vec
	best   float64
}

// raise gives the areas that any of the signatures may use the weights of the
// program over them for a demand, and takes that back where the bound is not
// higher for it.
func (b *dualBound) raise(sigs bitset, demand *vec) {
	var offers []offer
	var touched []*area
	var old []weights
	for _, a := range b.areas {
		if a.sigs.intersects(sigs) {
			touched = append(touched, a)
			old = append(old, a.w)
			offers = append(offers, a.offers...)
		}
	}
	w, ok := cover(offers, demand, b.s.nd)
	if !ok && b.best > 0 {
		return
	}
	for _, a := range touched {
		a.w = w
	}
	if v := b.value(); v > b.best {
		b.best = v
		return
	}
	for k, a := range touched {
		a.w = old[k]
	}
}

// value is what all demands are worth, each at the least weight of its areas.
func (b *dualBound) value() float64 {
	sum := 0.0
	for i, v := range b.demand {
		var first *weights
		mixed := false
		for _, a := range b.areas {
			if a.sigs.has(i) {
				if first == nil {
					first = &a.w
				}
				mixed = mixed || a.w != *first
			}
		}
		switch {
		case first == nil:
		case mixed:
			sum += b.mixedValue(i)
		default:
			// With one weight everywhere a sum is worth what its parts are worth.
			sum += first.of(v, b.s.nd)
		}
	}
	return sum
}

// mixedValue is what a signature's pods are worth where its areas have different
// weights: each pod goes where it is worth least.
func (b *dualBound) mixedValue(i int) float64 {
	sum := 0.0
	for k := range b.parts[i] {
		p := &b.parts[i][k]
		least := -1.0
		for _, a := range b.areas {
			if a.sigs.has(i) {
				if x := a.w.of(&p.req, b.s.nd); least < 0 || x < least {
					least = x
				}
			}
		}
		sum += p.n * max(least, 0)
	}
	return sum
}

// areas sorts the columns of all pools by the signatures that may use them,
// leaving out what another column of the area beats.
func (s *solver) areas(n int, get func(i int) (int32, *vec)) []*area {
	var out []*area
	for _, p := range s.pools {
		hash := make([]uint64, len(p.u.cols))
		for i := 0; i < n; i++ {
			sig, _ := get(i)
			if cols := s.reach(sig, p); cols != nil {
				mark := (uint64(i)+1)*0x9e3779b97f4a7c15 ^ uint64(i)<<40
				cols.each(func(c int) { hash[c] += mark * (mark>>17 | 1) })
			}
		}
		index := map[uint64]*area{}
		last := map[uint64]int32{}
		for c, h := range hash {
			col := &p.u.cols[c]
			if h == 0 || col.off.ReservationID != "" || p.u.types[col.typ].Exotic && !s.exoticOpen {
				continue
			}
			a := index[h]
			if a == nil {
				a = &area{sigs: newBitset(n)}
				for i := 0; i < n; i++ {
					sig, _ := get(i)
					if cols := s.reach(sig, p); cols != nil && cols.has(c) {
						a.sigs.set(i)
					}
				}
				index[h] = a
				last[h] = -1
				out = append(out, a)
			}
			if p.room[col.typ][dimPods] <= 0 {
				continue
			}
			if last[h] == col.typ {
				o := &a.offers[len(a.offers)-1]
				o.price = min(o.price, col.price)
				continue
			}
			last[h] = col.typ
			a.offers = append(a.offers, offer{col.price, &p.room[col.typ]})
		}
	}
	return out
}

// hostBound counts the nodes that rules of the node demand.
func (s *solver) hostBound(nodes []*openNode) float64 {
	if len(s.groups) == 0 {
		return 0
	}
	sums := map[int32]float64{}
	cost := map[*class]float64{}
	for _, n := range nodes {
		if n.pool.u.cols[n.col].off.ReservationID != "" {
			continue
		}
		for _, c := range n.of {
			for _, r := range c.hard {
				g := s.groups[r.g]
				if !g.host() || !r.own || !r.match || g.kind == affinity {
					continue
				}
				per := 1.0
				if g.kind == spread {
					per = float64(max(1, g.maxSkew))
				}
				if _, ok := cost[c]; !ok {
					cost[c] = s.cheapestAlone(c)
				}
				sums[r.g] += cost[c] / per
			}
		}
	}
	best := 0.0
	for g := range s.groups {
		best = max(best, sums[int32(g)])
	}
	return best
}

// cheapestAlone is the price of the cheapest node that holds one pod of a class.
func (s *solver) cheapestAlone(c *class) float64 {
	best := -1.0
	for _, p := range s.pools {
		cols := s.reach(c.shape.sig, p)
		if cols == nil {
			continue
		}
		cols.each(func(i int) {
			col := &p.u.cols[i]
			if col.off.ReservationID == "" && (s.exoticOpen || !p.u.types[col.typ].Exotic) && (best < 0 || col.price < best) && c.req.within(&p.room[col.typ], s.nd) {
				best = col.price
			}
		})
	}
	return max(best, 0)
}
