package scheduling

import (
	"cmp"
	"slices"
	"sort"
)

const (
	// mergeNodes is how many nodes a plan may have for merging to be tried: beyond,
	// the price is made by the bulk and not by the tail.
	mergeNodes = 1500
	// mergePartners is how many partners a node is tried with.
	mergePartners = 24
	// mergeIdle is how many nodes may find no partner in a row before the rest, which
	// are larger, are left alone.
	mergeIdle = 48
	// mergeTrade is how much dearer than two nodes one in their place may be.
	mergeTrade = 0.005
)

// merge puts the loads of two nodes on one wherever that costs no more, or hardly
// more: the cheapest nodes first, each with the partner that saves most.
func (pk *packer) merge(work int) {
	if pk.unplaced() > 0 || pk.nodes > mergeNodes || pk.nodes < 2 {
		return
	}
	budget := pk.price * trade / 4
	pk.single()
	// Nodes with the same load are not tried with each other again and again.
	failed := map[[2]*load]bool{}
	slices.SortStableFunc(pk.out, func(a, b pattern) int { return cmp.Compare(a.price, b.price) })
	for i, idle := 0, 0; i < len(pk.out) && work > 0 && idle < mergeIdle; i++ {
		if pk.out[i].count == 0 {
			continue
		}
		idle++
		best, with := pattern{}, -1
		gain := -min(budget, mergeTrade*pk.out[i].price)
		tried := 0
		for j := i + 1; j < len(pk.out) && tried < mergePartners && work > 0; j++ {
			if pk.out[j].count == 0 || pk.out[j].pool != pk.out[i].pool || pk.reserved(&pk.out[i]) || pk.reserved(&pk.out[j]) {
				continue
			}
			tried++
			pair := [2]*load{&pk.out[i].loads[0], &pk.out[j].loads[0]}
			if failed[pair] {
				continue
			}
			m, ok := pk.joined(&pk.out[i], &pk.out[j], budget, &work)
			if !ok {
				failed[pair] = true
				continue
			}
			if g := pk.out[i].price + pk.out[j].price - m.price; g >= gain {
				best, with, gain = m, j, g
			}
		}
		if with < 0 {
			continue
		}
		idle = 0
		budget += min(0, gain)
		pk.bookMerge(&pk.out[i], &pk.out[with], &best)
	}
	pk.out = slices.DeleteFunc(pk.out, func(p pattern) bool { return p.count == 0 })
}

// single turns patterns of several nodes into patterns of one.
func (pk *packer) single() {
	out := make([]pattern, 0, pk.nodes)
	for _, p := range pk.out {
		for k := int64(0); k < p.count; k++ {
			one := p
			one.count = 1
			out = append(out, one)
		}
	}
	pk.out = out
}

func (pk *packer) reserved(p *pattern) bool {
	return p.pool.u.cols[p.col].off.ReservationID != ""
}

// joined is the node that holds what two hold, if there is one that costs no more
// than both and the budget.
func (pk *packer) joined(a, b *pattern, budget float64, work *int) (pattern, bool) {
	s := pk.s
	*work--
	m := pattern{pool: a.pool, count: 1, req: a.req}
	m.req.add(&b.req, s.nd)
	most := a.price + b.price + min(budget, mergeTrade*a.price)
	m.st = a.st
	var host hostState
	for _, l := range a.loads {
		host = host.with(l.it.host, int32(l.k))
	}
	for _, l := range b.loads {
		if len(l.it.host) > 0 {
			if s.hostCap(host, l.it.host) < l.k {
				return m, false
			}
			host = host.with(l.it.host, int32(l.k))
		}
		if a.st != b.st {
			if m.st = s.advance(m.st, l.it.sig); m.st < 0 {
				return m, false
			}
		}
	}
	for _, l := range a.loads {
		if c := l.it.softCap; c > 0 {
			k := l.k
			for _, o := range b.loads {
				if o.it == l.it {
					k += o.k
				}
			}
			if k > c {
				return m, false
			}
		}
	}
	u := a.pool.u
	cols := s.states[m.st].cols
	exotic := u.types[u.cols[a.col].typ].Exotic || u.types[u.cols[b.col].typ].Exotic
	m.col = -1
	// What holds both costs no less than what holds the dearer one.
	order := u.byPrice()
	from := sort.Search(len(order), func(k int) bool { return u.cols[order[k]].price >= max(a.price, b.price)*(1-1e-9) })
	for n, i := range order[from:] {
		c := &u.cols[i]
		if c.price > most {
			*work -= n / 16
			return m, false
		}
		if cols.has(int(i)) && c.off.ReservationID == "" && (exotic || !u.types[c.typ].Exotic) && m.req.within(&a.pool.room[c.typ], s.nd) && pk.limitAllowsInstead(a, b, c.typ) {
			m.col, m.price = i, c.price
			*work -= n / 16
			break
		}
	}
	if m.col < 0 || !s.minValuesHold(m.st, &m.req) || !pk.wideEnough(&m, a, b) {
		return m, false
	}
	m.loads = slices.Clone(a.loads)
	for _, l := range b.loads {
		if k := slices.IndexFunc(m.loads, func(o load) bool { return o.it == l.it }); k >= 0 {
			m.loads[k].k += l.k
		} else {
			m.loads = append(m.loads, l)
		}
	}
	return m, true
}

// limitAllowsInstead tells whether the limits allow a node of type t in the place
// of two others.
func (pk *packer) limitAllowsInstead(a, b *pattern, t int32) bool {
	p := a.pool
	ta, tb := p.u.cols[a.col].typ, p.u.cols[b.col].typ
	for i := range p.limits {
		l := &p.limits[i]
		if pk.spent[p.index][i]+l.cap[t]-l.cap[ta]-l.cap[tb] > l.max {
			return false
		}
	}
	return true
}

// wideEnough tells whether a merged spot node still has enough types to choose
// from, unless one of the two had not either.
func (pk *packer) wideEnough(m, a, b *pattern) bool {
	n := pk.choices(m)
	return n < 0 || n >= wideSpot || min(pk.choices(a), pk.choices(b)) < wideSpot && n >= min(pk.choices(a), pk.choices(b))
}

// choices counts the types that may hold a spot node's load; -1 for other nodes.
func (pk *packer) choices(p *pattern) int {
	u := p.pool.u
	if u.cols[p.col].off.CapacityType != "spot" {
		return -1
	}
	cols := pk.s.states[p.st].cols
	n := 0
	for t := range u.types {
		if u.types[t].Exotic || !p.req.within(&p.pool.room[t], pk.s.nd) {
			continue
		}
		for c := u.first[t]; c < u.first[t+1]; c++ {
			if cols.has(int(c)) {
				n++
				break
			}
		}
		if n >= wideSpot {
			break
		}
	}
	return n
}

// bookMerge puts a merged node in the place of the later of the two.
func (pk *packer) bookMerge(a, b, m *pattern) {
	p := a.pool
	for i := range p.limits {
		l := &p.limits[i]
		pk.spent[p.index][i] += l.cap[p.u.cols[m.col].typ] - l.cap[p.u.cols[a.col].typ] - l.cap[p.u.cols[b.col].typ]
	}
	pk.price += m.price - a.price - b.price
	pk.nodes--
	a.count = 0
	*b = *m
}
