package scheduling

import "math"

// load is units of an item on a node.
type load struct {
	it *item
	k  int64
}

// filling is the load of one node as it grows. It is used again and again.
type filling struct {
	loads []load
	rem   vec
	host  hostState
	st    int32
	sigs  []int32
	value float64 // worth of all units
	guest float64 // of it, what units are worth that would be cheaper elsewhere
}

func (f *filling) reset(room *vec, st int32) {
	f.loads = f.loads[:0]
	f.host = f.host[:0]
	f.sigs = f.sigs[:0]
	f.rem = *room
	f.st = st
	f.value, f.guest = 0, 0
}

// req is what the loads ask for.
func (f *filling) req(nd int) vec {
	var v vec
	for _, l := range f.loads {
		v.addTimes(&l.it.req, l.k, nd)
	}
	return v
}

// put adds units to the filling.
func (f *filling) put(it *item, k int64, st int32, nd int) {
	f.st = st
	f.rem.subTimes(&it.req, k, nd)
	if len(it.host) > 0 {
		f.host = f.host.with(it.host, int32(k))
	}
	f.value += it.value * float64(k)
	for i := range f.loads {
		if f.loads[i].it == it {
			f.loads[i].k += k
			return
		}
	}
	f.loads = append(f.loads, load{it, k})
}

// fill loads one node of a candidate type as valuably as it can: seed first, as
// much of it as its rules let on a node; then what is at home there; then, into
// the gaps, what would be cheaper elsewhere.
func (pk *packer) fill(sg *segment, c *candidate, seed *item, seedKind int, f *filling) {
	s := pk.s
	f.reset(&c.room, pk.base[sg.pool.index])
	pk.startFill(sg)
	if seed != nil {
		k := min(seed.req.times(&f.rem, s.nd), pk.n[seed.id], s.hostCap(f.host, seed.host))
		if k > 0 && seed.selfCap >= noCap {
			k = 1
		}
		if k <= 0 || !pk.tryPut(f, seed, k) {
			return
		}
		pk.putCapped(sg, f, seed)
	}
	if pk.scarceFirst {
		pk.onlyScarce = true
		pk.fillFrom(sg, c, seedKind, f, false)
		pk.onlyScarce = false
		pk.rewind(sg)
	}
	pk.fillFrom(sg, c, seedKind, f, true)
	pk.rewind(sg)
	pk.fillFrom(sg, c, seedKind, f, false)
}

// startFill forgets what the last filling held and which items it ruled out.
func (pk *packer) startFill(sg *segment) {
	pk.mark++
	pk.hostStep++
	pk.rewind(sg)
}

// rewind starts the buckets over.
func (pk *packer) rewind(sg *segment) {
	pk.heads = append(pk.heads[:0], make([]int32, len(sg.buckets))...)
}

// fillFrom adds items while any fits.
func (pk *packer) fillFrom(sg *segment, c *candidate, seedKind int, f *filling, home bool) {
	s := pk.s
	for {
		it := pk.best(sg, c, f, seedKind, home)
		if it == nil {
			return
		}
		k := min(it.req.times(&f.rem, s.nd), pk.n[it.id]-pk.holds(it), s.hostCap(f.host, it.host))
		if k > 2 {
			k = max(1, k/pk.opt.chunk)
		}
		if it.softCap > 0 {
			k = min(k, it.softCap-pk.holds(it))
		}
		if !pk.tryPut(f, it, k) {
			pk.dead[it.id] = pk.mark
		} else if !home && pk.kindOf[it.id] != seedKind && pk.beta(it, &sg.w) < atHome {
			f.guest += it.value * float64(k)
		}
	}
}

// holds is how many units of an item the filling has.
func (pk *packer) holds(it *item) int64 {
	if pk.heldMark[it.id] == pk.mark {
		return pk.held[it.id]
	}
	return 0
}

func (pk *packer) tryPut(f *filling, it *item, k int64) bool {
	st := f.st
	known := false
	for _, sig := range f.sigs {
		known = known || sig == it.sig
	}
	if !known {
		if st = pk.s.advance(f.st, it.sig); st < 0 {
			return false
		}
		f.sigs = append(f.sigs, it.sig)
	}
	f.put(it, k, st, pk.s.nd)
	pk.held[it.id] = pk.holds(it) + k
	pk.heldMark[it.id] = pk.mark
	if len(it.host) > 0 {
		pk.hostStep++
	}
	return true
}

// putCapped adds the other items that few pods a node may have and that need as
// many nodes as the seed does: where they do not ride along they need nodes of
// their own.
func (pk *packer) putCapped(sg *segment, f *filling, seed *item) {
	if pk.need[seed.id] == 0 {
		return
	}
	for _, it := range pk.capped {
		if it == seed || pk.n[it.id] == 0 || pk.need[it.id]*2 < pk.need[seed.id] || !sg.kinds.has(pk.kindOf[it.id]) || pk.beta(it, &sg.w) < atHome {
			continue
		}
		pk.work++
		k := min(it.req.times(&f.rem, pk.s.nd), pk.n[it.id], it.selfCap, pk.s.hostCap(f.host, it.host))
		if k > 0 {
			pk.tryPut(f, it, k)
		}
	}
}

// blocked tells whether the rules of the node keep an item off now. Items with
// the same part in them share the answer until the load changes.
func (pk *packer) blocked(f *filling, it *item) bool {
	if len(it.host) == 0 {
		return false
	}
	c := it.hostClass
	if pk.hostSeen[c] != pk.hostStep {
		pk.hostSeen[c] = pk.hostStep
		pk.hostShut[c] = pk.s.hostCap(f.host, it.host) <= 0
	}
	return pk.hostShut[c]
}

// best is the item that suits what is left of the node: what the rest would be
// worth if it were filled with that item alone, which is most where the item asks
// for the resources in the proportion in which they are left, so that they run
// out together; and the larger the better, since small ones fit later too. Items
// of one request differ in freedom only: the first that still can is taken.
func (pk *packer) best(sg *segment, c *candidate, f *filling, seedKind int, home bool) *item {
	nd := pk.s.nd
	w := &sg.w
	var free, inv [maxDims]float64
	worth := 0.0
	for d := 0; d < nd; d++ {
		free[d] = float64(f.rem[d])
		worth += w[d] * free[d]
		if c.room[d] > 0 {
			inv[d] = 1 / float64(c.room[d])
		}
	}
	if worth <= 0 {
		worth = 1
	}
	var top *item
	topScore := 0.0
	needSeed := len(f.loads) == 0
	pk.work += len(sg.buckets)
	for b := range sg.buckets {
		bk := &sg.buckets[b]
		if int(pk.heads[b]) == len(bk.items) || !bk.req.within(&f.rem, nd) {
			continue
		}
		value, times, size := 1e-12, math.Inf(1), 0.0
		for d := 0; d < nd; d++ {
			if r := float64(bk.req[d]); r > 0 {
				value += w[d] * r
				times = min(times, free[d]/r)
				size = max(size, r*inv[d])
			}
		}
		score := value*times/worth + pk.opt.bulk*size
		if score <= topScore {
			continue
		}
		if it, sc := pk.candidateItem(f, bk, b, w, seedKind, home, needSeed, score); sc > topScore {
			top, topScore = it, sc
		}
	}
	return top
}

// candidateItem is the first item of a bucket that can join. Items that cannot
// any more are passed over for the rest of the filling.
func (pk *packer) candidateItem(f *filling, bk *bucket, b int, w *weights, seedKind int, home, needSeed bool, score float64) (*item, float64) {
	prefix := true
	for i := int(pk.heads[b]); i < len(bk.items); i++ {
		it := bk.items[i]
		gone := pk.dead[it.id] == pk.mark || pk.n[it.id] <= pk.holds(it) || it.softCap > 0 && pk.holds(it) >= it.softCap || !it.waits && pk.blocked(f, it)
		if pk.onlyScarce && !pk.round.kinds[pk.kindOf[it.id]].scarce {
			gone = true
		}
		beta := 1.0
		if !gone {
			if beta = pk.beta(it, w); home && beta < atHome {
				gone = true
			}
		}
		if gone {
			if prefix {
				pk.heads[b] = int32(i + 1)
			}
			continue
		}
		prefix = false
		if needSeed && pk.kindOf[it.id] != seedKind || it.waits && pk.blocked(f, it) {
			continue
		}
		return it, score * beta
	}
	return nil, 0
}

// atHome is the part of a node's worth for its resources that an item must be
// worth to be at home there.
const atHome = 0.985

// beta is what an item is worth against the worth of its resources on this node:
// an item that has cheaper nodes to go to is only filling here.
func (pk *packer) beta(it *item, w *weights) float64 {
	full := w.of(&it.req, pk.s.nd)
	if full <= 0 {
		return 1
	}
	return min(1, max(0.05, it.value/full))
}
