package scheduling

import (
	"math"
	"slices"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// openNode is a node to be launched.
type openNode struct {
	pool   *pool
	col    int32 // cheapest column that holds the load
	price  float64
	st     int32
	loads  []load // while packing; the pods follow
	req    vec
	host   hostState
	charge []int64 // against each limit of the pool, nil before it is charged
	pods   []int32
	of     []*class       // class of each pod
	claims map[string]int // uses of volume claims, nil until somebody asks
	why    string
}

// packItems opens nodes for what the standing ones did not take: the pools of
// the highest weight first, the next ones for what those cannot have.
func (s *solver) packItems() []*openNode {
	n := make([]int64, len(s.items))
	any := false
	for i, it := range s.items {
		n[i] = it.n
		any = any || it.n > 0
	}
	if !any || len(s.pools) == 0 {
		s.itemsToStrays()
		return s.placeStrays(nil)
	}
	var nodes []*openNode
	if tiers := s.priorities(n); len(tiers) > 1 && s.limited() {
		// Limits may run out: what matters more comes first.
		for _, t := range tiers {
			mine := make([]int64, len(n))
			for i, it := range s.items {
				if it.priority == t {
					mine[i] = n[i]
				}
			}
			nodes = append(nodes, s.packWeights(mine)...)
			for i, it := range s.items {
				if it.priority == t {
					n[i] = mine[i]
				}
			}
		}
	} else {
		nodes = s.packWeights(n)
	}
	s.assignPods(nodes)
	s.itemsToStrays()
	return s.placeStrays(nodes)
}

// priorities lists the priorities of what is left, the highest first.
func (s *solver) priorities(n []int64) []int32 {
	var out []int32
	for i, it := range s.items {
		if n[i] > 0 {
			out = append(out, it.priority)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	slices.Reverse(out)
	return out
}

func (s *solver) limited() bool {
	for _, p := range s.pools {
		if len(p.limits) > 0 {
			return true
		}
		for c := range p.u.cols {
			if p.u.cols[c].off.ReservationID != "" {
				return true
			}
		}
	}
	return false
}

// packWeights packs round by round, from the heaviest pools that suit an item to
// the lightest. n becomes what could not be placed.
func (s *solver) packWeights(n []int64) []*openNode {
	weight := make([]int32, len(s.items))
	for i, it := range s.items {
		weight[i] = math.MaxInt32
		if !s.nextWeight(it, &weight[i]) {
			weight[i] = -1
		}
	}
	var nodes []*openNode
	for {
		todo := make([]int64, len(n))
		any := false
		for i := range n {
			if weight[i] >= 0 && n[i] > 0 {
				todo[i] = n[i]
				any = true
			}
		}
		if !any {
			return nodes
		}
		before := slices.Clone(todo)
		nodes = append(nodes, s.packRound(todo, weight)...)
		for i := range n {
			n[i] -= before[i] - todo[i]
			if before[i] > 0 && todo[i] > 0 && !s.nextWeight(s.items[i], &weight[i]) {
				weight[i] = -1
			}
		}
	}
}

// nextWeight lowers w to the next weight of a pool that suits the item, and
// notes whether only exotic types do.
func (s *solver) nextWeight(it *item, w *int32) bool {
	for _, p := range s.pools { // ordered by weight
		if p.spec.Weight >= *w {
			continue
		}
		if fits, plain := s.fitsPool(it, p); fits {
			*w = p.spec.Weight
			it.exotic = !plain
			return true
		}
	}
	return false
}

// expand turns patterns into nodes.
func (s *solver) expand(ps []pattern) []*openNode {
	total := int64(0)
	for i := range ps {
		total += ps[i].count
	}
	arena := make([]openNode, total)
	out := make([]*openNode, 0, total)
	for i := range ps {
		p := &ps[i]
		var host hostState
		for _, l := range p.loads {
			host = host.with(l.it.host, int32(l.k))
		}
		for k := int64(0); k < p.count; k++ {
			n := &arena[len(out)]
			*n = openNode{pool: p.pool, col: p.col, price: p.price, st: p.st, loads: p.loads, req: p.req, host: host}
			out = append(out, n)
		}
	}
	return out
}

// assignPods gives the nodes the pods of their loads, in the order of names.
func (s *solver) assignPods(nodes []*openNode) {
	for _, n := range nodes {
		total := 0
		for _, l := range n.loads {
			total += len(l.it.members) * int(l.k)
		}
		n.pods = make([]int32, 0, total)
		n.of = make([]*class, 0, total)
		for _, l := range n.loads {
			for i := range l.it.members {
				m := &l.it.members[i]
				k := l.k * m.per
				n.pods = append(n.pods, m.pods[:k]...)
				for j := int64(0); j < k; j++ {
					n.of = append(n.of, m.c)
				}
				m.pods = m.pods[k:]
			}
			if l.it.why != "" {
				n.why = l.it.why
			}
			l.it.n -= l.k
			s.countHosts(l.it, l.k)
		}
	}
}

// itemsToStrays hands what packing left to the one-by-one pass.
func (s *solver) itemsToStrays() {
	for _, it := range s.items {
		for i := range it.members {
			s.stray(it.members[i].c, it.members[i].pods)
			it.members[i].pods = nil
		}
		it.n = 0
	}
}

type poolNeed struct {
	sig   int32
	shape int32
	pool  int
}

// fitsPool tells whether a node of the pool can hold an item, and whether one
// that is not exotic can.
func (s *solver) fitsPool(it *item, p *pool) (fits, plain bool) {
	k := poolNeed{it.sig, it.shape, p.index}
	if v, ok := s.holds[k]; ok {
		return v[0], v[1]
	}
	if f := s.fitOf(it.sig, p); f.ok {
		for c := 0; c < len(p.u.cols) && !plain; c++ {
			t := p.u.cols[c].typ
			if f.cols.has(c) && it.req.within(&p.room[t], s.nd) {
				fits = true
				plain = !p.u.types[t].Exotic
			}
		}
	}
	s.holds[k] = [2]bool{fits, plain}
	return fits, plain
}

// packReserved uses capacity that is paid for already: the reservations of the
// pools of this round, as far as they reach.
func (s *solver) packReserved(r *round, n []int64) []*openNode {
	var nodes []*openNode
	free := map[string]int64{}
	for _, p := range s.pools {
		if !s.singleChoice(p) {
			continue
		}
		for c := range p.u.cols {
			off := p.u.cols[c].off
			if off.ReservationID == "" {
				continue
			}
			sg := s.reservedSegment(r, p, c, n)
			if sg == nil {
				continue
			}
			if _, ok := free[off.ReservationID]; !ok {
				free[off.ReservationID] = off.ReservationCount - s.reservedUsed[off.ReservationID]
			}
			nodes = append(nodes, s.fillReservation(r, sg, n, free, off)...)
		}
	}
	return nodes
}

// singleChoice tells whether a pool may open a node that only one type can be: a
// node of a reservation is one, which strict minValues above one forbid.
func (s *solver) singleChoice(p *pool) bool {
	for _, mv := range p.minValues {
		if mv.n > 1 && !s.p.Options.MinValuesBestEffort {
			return false
		}
	}
	return true
}

func (s *solver) fillReservation(r *round, sg *segment, n []int64, free map[string]int64, off *cluster.Offering) []*openNode {
	pk := s.newPacker(r, n, packOptions{chunk: 4, bulk: 0.2, tries: 1})
	pk.weigh(againSteps)
	for free[off.ReservationID] > 0 {
		k := pk.richestKind(sg)
		if k < 0 || !pk.limitAllows(sg.pool, sg.cands[0].typ, 1) {
			break
		}
		pk.scarceFirst = r.kinds[k].scarce
		pk.fill(sg, &sg.cands[0], nil, k, &pk.cur)
		if !pk.commitOne(sg, &sg.cands[0], &pk.cur) {
			break
		}
		free[off.ReservationID]--
		s.reservedUsed[off.ReservationID]++
	}
	copy(n, pk.n)
	for i := range sg.pool.limits {
		sg.pool.limits[i].used = pk.spent[sg.pool.index][i]
	}
	return s.expand(pk.out)
}

// commitOne books one node with the load.
func (pk *packer) commitOne(sg *segment, c *candidate, f *filling) bool {
	if len(f.loads) == 0 {
		return false
	}
	for _, l := range f.loads {
		pk.n[l.it.id] -= l.k
	}
	for i := range sg.pool.limits {
		pk.spent[sg.pool.index][i] += sg.pool.limits[i].cap[c.typ]
	}
	id := pk.s.onlyColumn(f.st, c.col)
	pk.out = append(pk.out, pattern{loads: slices.Clone(f.loads), count: 1, pool: sg.pool, col: c.col, price: c.price, st: id, req: f.req(pk.s.nd)})
	return true
}

// onlyReserved tells whether the pools of its weight offer a kind nothing but
// reserved capacity.
func (s *solver) onlyReserved(k *kind) bool {
	any := false
	for _, p := range s.pools {
		f := s.fitOf(k.sig, p)
		if p.spec.Weight != k.weight || !f.ok {
			continue
		}
		plain := false
		f.cols.each(func(c int) {
			if k.least.within(&p.room[p.u.cols[c].typ], s.nd) {
				any = true
				plain = plain || p.u.cols[c].off.ReservationID == ""
			}
		})
		if plain {
			return false
		}
	}
	return any
}

// richestKind is the kind of the segment with the most left, of those that have no
// other place first; -1 for none.
func (pk *packer) richestKind(sg *segment) int {
	worth := make([]float64, len(pk.round.kinds))
	for i, it := range pk.s.items {
		if pk.n[i] > 0 && pk.kindOf[i] >= 0 && sg.kinds.has(pk.kindOf[i]) && it.req.within(&sg.cands[0].room, pk.s.nd) {
			worth[pk.kindOf[i]] += max(it.value, 1e-9) * float64(pk.n[i])
		}
	}
	best := -1
	for k, w := range worth {
		if w <= 0 {
			continue
		}
		if best < 0 {
			best = k
			continue
		}
		if a, b := pk.round.kinds[k].scarce, pk.round.kinds[best].scarce; a && !b || a == b && w > worth[best] {
			best = k
		}
	}
	return best
}

// reservedSegment is a segment of one reserved column.
func (s *solver) reservedSegment(r *round, p *pool, c int, n []int64) *segment {
	col := &p.u.cols[c]
	sg := &segment{pool: p, kinds: newBitset(len(r.kinds)), exotic: p.u.types[col.typ].Exotic}
	any := false
	for _, k := range r.kinds {
		if k.weight != p.spec.Weight || sg.exotic && !k.exotic {
			continue
		}
		if f := s.fitOf(k.sig, p); f.ok && f.cols.has(c) {
			sg.kinds.set(k.id)
			any = true
		}
	}
	if !any {
		return nil
	}
	sg.cands = []candidate{{typ: col.typ, col: int32(c), price: col.price, room: p.room[col.typ], options: 1}}
	r.fillBuckets(s, sg, n)
	return sg
}
