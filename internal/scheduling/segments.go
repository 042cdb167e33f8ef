package scheduling

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// kind is what items have in common that decides which columns they may use:
// the signature, the weight of the pools that are tried now, and whether only
// exotic types can hold them.
type kind struct {
	id      int
	sig     int32
	weight  int32
	exotic  bool
	tier    int // size: what cannot use the small types must not be weighed by them
	least   vec // of each resource, what any of the items asks for
	columns int
	avoids  []bool // pools that would rather be left alone, and are dear enough to be
	// scarce kinds have no place but reserved capacity.
	scarce bool
}

// segment is the columns of one pool that exactly the same kinds may use.
type segment struct {
	pool   *pool
	kinds  bitset
	exotic bool
	spot   bool
	cands  []candidate
	// buckets are the segment's items by request, items with less freedom first.
	buckets []bucket
	offers  []offer // the candidates as columns of the linear program
	w       weights // what a unit of each resource is worth here
	demand  vec     // of the items that would go here, while weighing
}

// bucket is the items of a segment that ask for the same resources.
type bucket struct {
	req   vec
	items []*item
}

// candidate is a type that a segment offers, with its cheapest column there.
type candidate struct {
	typ     int32
	col     int32
	price   float64
	room    vec
	options int // types of the segment that hold whatever this one holds
}

// segmentsFor sorts the columns of the pools into segments for the kinds. Types
// that another type of the segment beats in price and in every resource fall
// away.
func (s *solver) segmentsFor(kinds []*kind) []*segment {
	var out []*segment
	for _, p := range s.pools {
		out = append(out, s.poolSegments(p, kinds)...)
	}
	return out
}

func (s *solver) poolSegments(p *pool, kinds []*kind) []*segment {
	u := p.u
	hash := make([]uint64, len(u.cols))
	var member []*kind
	for _, k := range kinds {
		if p.spec.Weight != k.weight || k.avoids != nil && k.avoids[p.index] {
			continue
		}
		f := s.fitOf(k.sig, p)
		if !f.ok {
			continue
		}
		member = append(member, k)
		mark := (uint64(k.id)+1)*0x9e3779b97f4a7c15 ^ uint64(k.id)<<40
		f.cols.each(func(c int) {
			if k.least.within(&p.room[u.cols[c].typ], s.nd) {
				hash[c] += mark * (mark>>17 | 1)
			}
		})
	}
	if len(member) == 0 {
		return nil
	}
	type segKey struct {
		h      uint64
		exotic bool
		spot   bool
	}
	index := map[segKey]*segment{}
	var out []*segment
	for c, h := range hash {
		col := &u.cols[c]
		if h == 0 || col.off.ReservationID != "" {
			continue
		}
		k := segKey{h, u.types[col.typ].Exotic, col.off.CapacityType == cluster.Spot}
		sg := index[k]
		if sg == nil {
			sg = &segment{pool: p, kinds: newBitset(len(kinds)), exotic: k.exotic, spot: k.spot}
			for _, m := range member {
				if s.fitOf(m.sig, p).cols.has(c) && m.least.within(&p.room[col.typ], s.nd) {
					sg.kinds.set(m.id)
				}
			}
			index[k] = sg
			out = append(out, sg)
		}
		sg.add(col, c, p)
	}
	out = slices.DeleteFunc(out, func(sg *segment) bool { return !sg.wanted(kinds) })
	for _, sg := range out {
		s.prune(sg)
	}
	return out
}

// avoided are the pools whose PreferNoSchedule taints a kind does not tolerate and
// whose nodes are not so much cheaper that it should go there all the same; nil
// when there are none.
func (s *solver) avoided(k *kind) []bool {
	var soft []*pool
	clean := math.Inf(1)
	cost := func(p *pool, f *fit) float64 {
		low := math.Inf(1)
		shares := s.typeShares(p, &k.least)
		f.cols.each(func(c int) {
			if part := shares[p.u.cols[c].typ]; part >= 0 {
				low = min(low, p.u.cols[c].price*part)
			}
		})
		return low
	}
	for _, p := range s.pools {
		if p.spec.Weight != k.weight {
			continue
		}
		if f := s.fitOf(k.sig, p); f.ok && f.soft {
			soft = append(soft, p)
		} else if f.ok {
			clean = min(clean, cost(p, f))
		}
	}
	if len(soft) == 0 || math.IsInf(clean, 1) {
		return nil
	}
	out := make([]bool, len(s.pools))
	for _, p := range soft {
		out[p.index] = cost(p, s.fitOf(k.sig, p))*(1+softTaintWeight/100.0) >= clean
	}
	return out
}

// wanted tells whether a kind may open nodes there: exotic types only for
// those that need them.
func (sg *segment) wanted(kinds []*kind) bool {
	found := false
	sg.kinds.each(func(k int) {
		found = found || kinds[k].exotic == sg.exotic || kinds[k].exotic
	})
	return found
}

// add keeps the cheapest column of each type.
func (sg *segment) add(col *column, c int, p *pool) {
	if n := len(sg.cands); n > 0 && sg.cands[n-1].typ == col.typ {
		if col.price < sg.cands[n-1].price {
			sg.cands[n-1].price, sg.cands[n-1].col = col.price, int32(c)
		}
		return
	}
	sg.cands = append(sg.cands, candidate{typ: col.typ, col: int32(c), price: col.price, room: p.room[col.typ]})
}

// prune drops dominated candidates, after counting for each what else would
// hold its load.
func (s *solver) prune(sg *segment) {
	all := slices.Clone(sg.cands)
	slices.SortStableFunc(all, func(a, b candidate) int {
		if c := cmp.Compare(a.price, b.price); c != 0 {
			return c
		}
		if c := cmp.Compare(b.room[dimCPU]+b.room[dimMemory]>>20, a.room[dimCPU]+a.room[dimMemory]>>20); c != 0 {
			return c
		}
		return cmp.Compare(a.typ, b.typ)
	})
	keep := sg.cands[:0]
	for i := range all {
		c := &all[i]
		if c.room[dimPods] <= 0 {
			continue
		}
		beaten := false
		for k := range keep {
			if c.room.within(&keep[k].room, s.nd) && s.limitsNoWorse(sg.pool, keep[k].typ, c.typ) {
				beaten = true
				break
			}
		}
		if !beaten {
			keep = append(keep, *c)
		}
	}
	sg.cands = keep
	for i := range sg.cands {
		c := &sg.cands[i]
		for k := range all {
			if c.room.within(&all[k].room, s.nd) {
				c.options++
			}
		}
		if len(sg.pool.minValues) > 0 && !s.p.Options.MinValuesBestEffort {
			s.shrinkForMinValues(sg.pool, c, all)
		}
	}
	for i := range sg.cands {
		sg.offers = append(sg.offers, offer{sg.cands[i].price, &sg.cands[i].room})
	}
}

// limitsNoWorse tells whether type a counts no more than type b against any
// limit of the pool.
func (s *solver) limitsNoWorse(p *pool, a, b int32) bool {
	for i := range p.limits {
		if p.limits[i].cap[a] > p.limits[i].cap[b] {
			return false
		}
	}
	return true
}

// shrinkForMinValues lowers a candidate's room so that enough other types hold
// the same load for the pool's minValues: those that hold all of it anyway, then
// those that come closest.
func (s *solver) shrinkForMinValues(p *pool, c *candidate, all []candidate) {
	type near struct {
		cand *candidate
		part float64
	}
	order := make([]near, 0, len(all))
	for i := range all {
		part := 1.0
		for d := 0; d < s.nd; d++ {
			if c.room[d] > 0 {
				part = min(part, float64(all[i].room[d])/float64(c.room[d]))
			}
		}
		order = append(order, near{&all[i], part})
	}
	slices.SortStableFunc(order, func(a, b near) int { return cmp.Compare(b.part, a.part) })
	need := make([]map[string]bool, len(p.minValues))
	for i := range need {
		need[i] = map[string]bool{}
	}
	for _, o := range order {
		done := true
		for i, mv := range p.minValues {
			done = done && len(need[i]) >= mv.n
		}
		if done {
			return
		}
		helps := false
		for i, mv := range p.minValues {
			if v, ok := p.u.columnValue(mv.key, int(o.cand.col)); ok && len(need[i]) < mv.n && !need[i][v] {
				need[i][v] = true
				helps = true
			}
		}
		if helps {
			for d := 0; d < s.nd; d++ {
				c.room[d] = min(c.room[d], o.cand.room[d])
			}
		}
	}
}
