package scheduling

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
	value float64
	step  uint32
}

func (f *filling) reset(room *vec, st int32) {
	f.loads = f.loads[:0]
	f.host = f.host[:0]
	f.sigs = f.sigs[:0]
	f.rem = *room
	f.st = st
	f.value = 0
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

// fill loads one node of a candidate type as valuably as it can: seed first,
// then by score whatever the segment's items still have.
func (pk *packer) fill(sg *segment, c *candidate, seed *item, seedKind int, f *filling) {
	s := pk.s
	f.reset(&c.room, pk.base[sg.pool.index])
	pk.clearMarks()
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
	w := &pk.s.kindList[seedKind].w
	for {
		it := pk.best(sg, c, f, w, seedKind)
		if it == nil {
			return
		}
		k := min(it.req.times(&f.rem, s.nd), pk.n[it.id]-pk.holds(f, it), s.hostCap(f.host, it.host))
		if k > 2 {
			k = max(1, k/pk.opt.chunk)
		}
		if !pk.tryPut(f, it, k) {
			pk.dead[it.id] = pk.mark
		}
	}
}

// holds is how many units of an item the filling has.
func (pk *packer) holds(f *filling, it *item) int64 {
	for i := range f.loads {
		if f.loads[i].it == it {
			return f.loads[i].k
		}
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
		if it == seed || pk.n[it.id] == 0 || pk.need[it.id]*2 < pk.need[seed.id] || !pk.inSegment(sg, it) {
			continue
		}
		k := min(it.req.times(&f.rem, pk.s.nd), pk.n[it.id], it.selfCap, pk.s.hostCap(f.host, it.host))
		if k > 0 {
			pk.tryPut(f, it, k)
		}
	}
}

func (pk *packer) inSegment(sg *segment, it *item) bool { return sg.kinds.has(pk.kindOf[it.id]) }

// best is the item that suits what is left of the node: its worth by resource,
// each weighed with how much of that resource is still free, so that both run
// out together. Items of one request differ in freedom only: the first that
// still can is taken.
func (pk *packer) best(sg *segment, c *candidate, f *filling, w *weights, seedKind int) *item {
	nd := pk.s.nd
	var scale [maxDims]float64
	for d := 0; d < nd; d++ {
		if c.room[d] > 0 {
			u := float64(f.rem[d]) / float64(c.room[d])
			scale[d] = w[d] * u
		}
	}
	var top *item
	topScore := 0.0
	needSeed := len(f.loads) == 0
	for b := range sg.buckets {
		bk := &sg.buckets[b]
		if !bk.req.within(&f.rem, nd) {
			continue
		}
		score := 1e-12
		for d := 0; d < nd; d++ {
			score += scale[d] * float64(bk.req[d])
		}
		if score <= topScore {
			continue
		}
		for _, it := range bk.items {
			if pk.dead[it.id] == pk.mark {
				continue
			}
			if pk.n[it.id]-pk.holds(f, it) <= 0 || len(it.host) > 0 && pk.s.hostCap(f.host, it.host) <= 0 {
				if !it.waits {
					pk.dead[it.id] = pk.mark
				}
				continue
			}
			if needSeed && pk.kindOf[it.id] != seedKind {
				continue
			}
			sc := score * pk.beta(it, w)
			if sc > topScore {
				top, topScore = it, sc
			}
			if !needSeed {
				break
			}
		}
	}
	return top
}

// beta is what an item is worth against the worth of its resources on this node:
// an item that has cheaper nodes to go to is only filling here.
func (pk *packer) beta(it *item, w *weights) float64 {
	full := w.of(&it.req, pk.s.nd)
	if full <= 0 {
		return 1
	}
	return min(1, max(0.05, it.value/full))
}

func (pk *packer) clearMarks() { pk.mark++ }
