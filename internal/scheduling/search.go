package scheduling

import (
	"cmp"
	"slices"
)

// How far the search for a cheaper plan goes. Work is counted in steps, not in
// time, so that the same problem has the same plan on every machine.
const (
	searchWork = 600_000 // steps after which no other run begins
	searchRuns = 5
	goodEnough = 1.012
	// worthwhile is the part of the price that the next run must promise.
	worthwhile = 0.005
	// trade is how much dearer than the cheapest found a plan may be that opens
	// fewer nodes or leaves launches more types to choose from.
	trade = 0.01
	// wideSpot is how many types a spot node should have to choose from: a
	// launch that may take one type only is a launch that fails.
	wideSpot = 15
)

// packRound finds the best of several runs. n becomes what is left. The first two
// differ in whether items are told apart by size; where that matters, the better
// of them goes on with what was learned from the runs before.
func (s *solver) packRound(n []int64, weight []int32) []*openNode {
	r := s.newRound(n, weight, false)
	reserved := s.packReserved(r, n)
	runs := []*packer{s.tryRun(r, n)}
	work := runs[0].work
	if first := runs[0]; !first.done() && work <= searchWork/2 {
		sized := s.newRound(n, weight, true)
		second := s.tryRun(sized, n)
		runs = append(runs, second)
		work += second.work
		if second.price < first.price*(1-worthwhile) {
			r = sized
		}
		matters := second.price < first.price*(1-worthwhile) || second.price > first.price*(1+worthwhile)
		for len(runs) < searchRuns && matters && work <= searchWork {
			pk := s.tryRun(r, n)
			runs = append(runs, pk)
			work += pk.work
		}
	}
	best := choose(runs).spreadOut()
	best.improve(searchWork - work)
	best.fewer(searchWork / 4)
	best.merge(searchWork / 4)
	for i, p := range s.pools {
		for k := range p.limits {
			p.limits[k].used = best.spent[i][k]
		}
	}
	copy(n, best.n)
	return append(reserved, s.expand(best.out)...)
}

// tryRun makes one run and lets the next learn from it.
func (s *solver) tryRun(r *round, n []int64) *packer {
	pk := s.newPacker(r, n, packOptions{chunk: 6, bulk: 0.5, within: 0.001, tries: 16, options: wideSpot})
	pk.run()
	pk.learn(0.5)
	return pk
}

// done tells whether a run is so near to what its load is worth, which no plan can
// beat, that looking further is not worth it.
func (pk *packer) done() bool {
	return pk.unplaced() == 0 && pk.price <= pk.worth0*goodEnough
}

// choose takes the run that places most, and of those the one with the fewest
// nodes among all that cost at most the trade more than the cheapest.
func choose(runs []*packer) *packer {
	cheapest := runs[0]
	for _, pk := range runs[1:] {
		if a, b := pk.unplaced(), cheapest.unplaced(); a < b || a == b && pk.price < cheapest.price {
			cheapest = pk
		}
	}
	best := cheapest
	for _, pk := range runs {
		if pk.unplaced() > cheapest.unplaced() || pk.price > cheapest.price*(1+trade/2) {
			continue
		}
		if pk.nodes < best.nodes || pk.nodes == best.nodes && pk.price < best.price {
			best = pk
		}
	}
	return best
}

func (pk *packer) unplaced() int64 {
	total := int64(0)
	for i := range pk.n {
		total += pk.n[i]
	}
	return total
}

// improve takes the nodes that are worth least for their price apart and packs
// what was on them anew, as long as that makes the plan cheaper.
func (pk *packer) improve(work int) {
	if pk.unplaced() > 0 {
		return
	}
	spared := map[*load]bool{}
	for fails := 0; work > 0 && fails < 2; {
		parts := pk.worst(spared, fails)
		if len(parts) < 2 {
			return
		}
		again := pk.takeApart(parts)
		again.run()
		work -= again.work + 1
		old := 0.0
		for _, i := range parts {
			old += pk.out[i].price * float64(pk.out[i].count)
		}
		if again.unplaced() > 0 || again.price > old-1e-9 {
			for _, i := range parts {
				spared[&pk.out[i].loads[0]] = true
			}
			fails++
			continue
		}
		pk.replace(parts, again)
	}
}

// worst are the patterns that are worth least for their price, up to a tenth of
// the price of all, and more with every try that failed.
func (pk *packer) worst(spared map[*load]bool, fails int) []int {
	type rated struct {
		i     int
		worth float64
	}
	var all []rated
	for i := range pk.out {
		p := &pk.out[i]
		if spared[&p.loads[0]] {
			continue
		}
		v := 0.0
		for _, l := range p.loads {
			v += l.it.value0 * float64(l.k)
		}
		all = append(all, rated{i, v / p.price})
	}
	slices.SortStableFunc(all, func(a, b rated) int { return cmp.Compare(a.worth, b.worth) })
	limit := pk.price * 0.1 * float64(1+fails%3)
	var out []int
	sum := 0.0
	for _, r := range all {
		if len(out) >= 2 && sum > limit {
			break
		}
		sum += pk.out[r.i].price * float64(pk.out[r.i].count)
		out = append(out, r.i)
	}
	return out
}

// fewer packs the cheapest nodes anew with a taste for large ones: fewer nodes win
// where the price of all stays within the trade.
func (pk *packer) fewer(work int) {
	if pk.unplaced() > 0 {
		return
	}
	budget := pk.price * trade / 10
	for _, share := range [4]float64{0.02, 0.05, 0.1, 0.2} {
		if work <= 0 {
			return
		}
		parts := pk.smallest(share)
		if len(parts) == 0 {
			continue
		}
		again := pk.takeApart(parts)
		again.opt.within = 5 * trade
		again.run()
		work -= again.work + 1
		price, nodes := 0.0, int64(0)
		for _, i := range parts {
			price += pk.out[i].price * float64(pk.out[i].count)
			nodes += pk.out[i].count
		}
		if again.unplaced() > 0 || again.nodes >= nodes || again.price-price > budget {
			continue
		}
		budget -= max(0, again.price-price)
		again.opt.within = pk.opt.within
		pk.replace(parts, again)
	}
}

// smallest are the patterns with the cheapest nodes, up to a share of the price.
func (pk *packer) smallest(share float64) []int {
	order := make([]int, len(pk.out))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(pk.out[a].price, pk.out[b].price) })
	var out []int
	sum, nodes := 0.0, int64(0)
	for _, i := range order {
		p := &pk.out[i]
		if sum += p.price * float64(p.count); sum > pk.price*share {
			break
		}
		nodes += p.count
		out = append(out, i)
	}
	if nodes < 2 {
		return nil
	}
	return out
}

// takeApart starts a run on what some patterns hold.
func (pk *packer) takeApart(parts []int) *packer {
	n := make([]int64, len(pk.n))
	again := pk.s.newPacker(pk.round, n, pk.opt)
	again.partial = true
	again.opt.bulk = 0.2
	again.opt.chunk = 8
	for i := range again.spent {
		copy(again.spent[i], pk.spent[i])
	}
	for _, i := range parts {
		p := &pk.out[i]
		for _, l := range p.loads {
			again.n[l.it.id] += l.k * p.count
		}
		t := p.pool.u.cols[p.col].typ
		for k := range p.pool.limits {
			again.spent[p.pool.index][k] -= p.pool.limits[k].cap[t] * p.count
		}
	}
	return again
}

// replace exchanges patterns for those of another run.
func (pk *packer) replace(parts []int, again *packer) {
	gone := make([]bool, len(pk.out))
	for _, i := range parts {
		gone[i] = true
		pk.price -= pk.out[i].price * float64(pk.out[i].count)
		pk.nodes -= pk.out[i].count
	}
	kept := pk.out[:0]
	for i := range pk.out {
		if !gone[i] {
			kept = append(kept, pk.out[i])
		}
	}
	pk.out = append(kept, again.out...)
	pk.price += again.price
	pk.nodes += again.nodes
	pk.spent = again.spent
}
