package scheduling

import (
	"cmp"
	"math"
	"slices"
)

// packOptions steer one run of the packer.
type packOptions struct {
	chunk int64 // a step of filling takes this part of what would fit
	// within: among candidates whose worth for price is at most this much below
	// the best, the largest load is taken: fewer nodes.
	within  float64
	tries   int     // candidates that are filled at a step
	bulk    float64 // how much a large item is preferred to one that suits
	options int     // a spot node should have this many types to choose from
}

// pattern is a load that several nodes have alike.
type pattern struct {
	loads []load
	count int64
	pool  *pool
	col   int32
	price float64
	st    int32
	req   vec
}

// packer is one run: which nodes to open for the items.
type packer struct {
	s      *solver
	opt    packOptions
	round  *round
	start  []int64 // units at the start, by item
	n      []int64 // units left, by item
	kindOf []int   // by item
	base   []int32 // empty node, by pool
	// What the filling holds and rules out, valid while mark is the same.
	dead, heldMark []uint32
	held           []int64
	mark           uint32
	heads          []int32 // by bucket: items before it are out
	hostSeen       []uint32
	hostShut       []bool
	hostStep       uint32
	tryCache       [][]try // by kind, until weights change
	work           int     // steps taken, to bound the number of runs
	need           []int64 // nodes that an item's own rules demand, by item
	capped         []*item
	spent          [][]int64 // by pool and limit: what counts against it so far
	out            []pattern
	price          float64
	nodes          int64
	cur            filling
	units          []int64 // left of each kind
	rest           float64 // worth of what is left
	left           float64 // worth of what is left when last weighed
	worth0         float64 // of all that the run began with
	onlyScarce     bool
	scarceFirst    bool // fill with what has no other place before anything else
	partial        bool // on a part of the problem: what the whole was worth stays
	maxBoost       float64
}

// round is the kinds and segments for the items that are left, at the weights
// of the pools that are tried now.
type round struct {
	kinds  []*kind
	segs   []*segment
	ofKind [][]*segment // by kind
	lots   []lot
	kindOf []int
	order  []int // kinds, least freedom first
}

// newRound prepares packing for the items with units left.
func (s *solver) newRound(n []int64, weight []int32, sized bool) *round {
	type kindKey struct {
		sig, weight int32
		exotic      bool
		tier        int
	}
	var largest int64
	for i, it := range s.items {
		if n[i] > 0 {
			largest = max(largest, it.req[dimCPU])
		}
	}
	r := &round{kindOf: make([]int, len(s.items))}
	index := map[kindKey]*kind{}
	for i, it := range s.items {
		r.kindOf[i] = -1
		if n[i] == 0 {
			continue
		}
		key := kindKey{it.sig, weight[i], it.exotic, 0}
		if sized {
			key.tier = sizeTier(it.req[dimCPU], largest)
		}
		k := index[key]
		if k == nil {
			k = &kind{id: len(r.kinds), sig: it.sig, weight: weight[i], exotic: it.exotic, tier: key.tier, least: it.req}
			for _, p := range s.pools {
				if p.spec.Weight == k.weight {
					if f := s.fitOf(k.sig, p); f.ok {
						k.columns += f.cols.count()
					}
				}
			}
			index[key] = k
			r.kinds = append(r.kinds, k)
		}
		for d := 0; d < s.nd; d++ {
			k.least[d] = min(k.least[d], it.req[d])
		}
		it.columns = k.columns
		r.kindOf[i] = k.id
	}
	for _, k := range r.kinds {
		k.avoids = s.avoided(k)
		k.scarce = s.onlyReserved(k)
	}
	r.segs = s.segmentsFor(r.kinds)
	r.ofKind = make([][]*segment, len(r.kinds))
	for _, sg := range r.segs {
		r.fillBuckets(s, sg, n)
		var members []int
		sg.kinds.each(func(k int) { members = append(members, k) })
		for _, k := range members {
			if r.kinds[k].exotic || !sg.exotic {
				r.ofKind[k] = append(r.ofKind[k], sg)
			}
		}
	}
	r.makeLots(s)
	for k := range r.kinds {
		r.order = append(r.order, k)
	}
	slices.SortStableFunc(r.order, func(a, b int) int {
		ka, kb := r.kinds[a], r.kinds[b]
		if ka.exotic != kb.exotic {
			if ka.exotic {
				return -1
			}
			return 1
		}
		if ka.columns != kb.columns {
			return cmp.Compare(ka.columns, kb.columns)
		}
		return cmp.Compare(ka.tier, kb.tier)
	})
	return r
}

// sizeTiers bounds how finely items are told apart by size.
const sizeTiers = 4

// sizeTier is 0 for the items within a factor of two of the largest, and one more
// for every halving.
func sizeTier(cpu, largest int64) int {
	t := 0
	for t < sizeTiers-1 && cpu*2 <= largest {
		cpu *= 2
		t++
	}
	return t
}

// fillBuckets sorts the segment's items by request.
func (r *round) fillBuckets(s *solver, sg *segment, n []int64) {
	at := map[int32]int{}
	for i, it := range s.items {
		if n[i] == 0 || r.kindOf[i] < 0 || !sg.kinds.has(r.kindOf[i]) {
			continue
		}
		b, ok := at[it.shape]
		if !ok {
			b = len(sg.buckets)
			at[it.shape] = b
			sg.buckets = append(sg.buckets, bucket{req: it.req})
		}
		sg.buckets[b].items = append(sg.buckets[b].items, it)
	}
	for b := range sg.buckets {
		slices.SortStableFunc(sg.buckets[b].items, func(x, y *item) int {
			if c := cmp.Compare(y.priority, x.priority); c != 0 {
				return c
			}
			if xe, ye := x.selfCap < noCap, y.selfCap < noCap; xe != ye {
				if xe {
					return -1
				}
				return 1
			}
			return cmp.Compare(x.columns, y.columns)
		})
	}
}

// newPacker starts a run on what is left of the items.
func (s *solver) newPacker(r *round, n []int64, opt packOptions) *packer {
	pk := &packer{s: s, opt: opt, round: r, start: n, n: slices.Clone(n), kindOf: r.kindOf,
		dead: make([]uint32, len(s.items)), heldMark: make([]uint32, len(s.items)), held: make([]int64, len(s.items)),
		hostSeen: make([]uint32, s.hostClasses), hostShut: make([]bool, s.hostClasses),
		tryCache: make([][]try, len(r.kinds)), need: make([]int64, len(s.items))}
	for _, p := range s.pools {
		pk.base = append(pk.base, s.baseState(p))
		u := make([]int64, len(p.limits))
		for i := range p.limits {
			u[i] = p.limits[i].used
		}
		pk.spent = append(pk.spent, u)
	}
	return pk
}

// run opens nodes until nothing is left or nothing more can be placed.
func (pk *packer) run() {
	pk.units = make([]int64, len(pk.round.kinds))
	for i, n := range pk.n {
		if pk.kindOf[i] >= 0 {
			pk.units[pk.kindOf[i]] += n
		}
	}
	pk.maxBoost = 1
	for i := range pk.round.lots {
		pk.maxBoost = max(pk.maxBoost, pk.round.lots[i].boost)
	}
	if pk.partial {
		pk.weigh(againSteps)
	} else {
		pk.weigh(firstSteps)
	}
	if !pk.partial {
		for _, it := range pk.s.items {
			it.value0 = it.value
		}
		pk.worth0 = pk.left
	}
	pk.runCapped()
	for _, k := range pk.round.order {
		for pk.kindLeft(k) {
			pk.reweigh()
			if !pk.open(nil, k) {
				break
			}
		}
	}
}

func (pk *packer) kindLeft(k int) bool { return pk.units[k] > 0 }

// runCapped opens the nodes that pods need which may only be few on a node. They
// come first, and the nodes are kept small enough that what fills them up lasts
// for all.
func (pk *packer) runCapped() {
	failed := make([]bool, len(pk.n))
	for {
		pk.countNeeds()
		var seed *item
		for _, it := range pk.capped {
			if !failed[it.id] && pk.n[it.id] > 0 && (seed == nil || pk.need[it.id] > pk.need[seed.id]) {
				seed = it
			}
		}
		if seed == nil || pk.need[seed.id] < 2 {
			return
		}
		pk.reweigh()
		if !pk.open(seed, pk.kindOf[seed.id]) {
			failed[seed.id] = true
		}
	}
}

// countNeeds works out how many nodes the rules of the node demand for what is
// left: the pods of a rule that count themselves, by what a node may have.
func (pk *packer) countNeeds() {
	s := pk.s
	byGroup := make([]int64, len(s.groups))
	pk.capped = pk.capped[:0]
	for _, it := range s.items {
		if pk.n[it.id] == 0 || pk.kindOf[it.id] < 0 || it.selfCap >= noCap {
			continue
		}
		pk.capped = append(pk.capped, it)
		for _, h := range it.host {
			if h.own > 0 && h.cnt > 0 {
				byGroup[h.g] += pk.n[it.id] * int64(h.cnt)
			}
		}
	}
	for _, it := range pk.capped {
		pk.need[it.id] = 0
		for _, h := range it.host {
			if h.own == 0 || h.cnt == 0 {
				continue
			}
			per := int64(1)
			if g := s.groups[h.g]; g.kind == spread {
				per = int64(max(1, g.maxSkew))
			}
			pk.need[it.id] = max(pk.need[it.id], (byGroup[h.g]+per-1)/per)
		}
	}
}

// reweigh weighs again when a fifth of what was left has been placed.
func (pk *packer) reweigh() {
	if pk.rest < pk.left*0.8 {
		pk.weigh(againSteps)
	}
}

// try is a candidate of a segment.
type try struct {
	sg *segment
	c  *candidate
	ub float64
}

// open chooses a candidate, loads it and commits as many like it as make sense.
// false when no candidate takes anything.
func (pk *packer) open(seed *item, k int) bool {
	tries := pk.triesFor(seed, k)
	type result struct {
		t     try
		worth float64
		value float64
		wide  bool
	}
	var results []result
	bestWorth := 0.0
	filled := 0
	for _, t := range tries {
		if filled >= pk.opt.tries {
			break
		}
		if !pk.limitAllows(t.sg.pool, t.c.typ, 1) || seed != nil && !seed.req.within(&t.c.room, pk.s.nd) {
			continue
		}
		if t.ub*pk.maxBoost < bestWorth*(1-pk.opt.within)-1e-9 {
			continue
		}
		pk.fill(t.sg, t.c, seed, k, &pk.cur)
		pk.keepMinValues(&pk.cur)
		if len(pk.cur.loads) == 0 {
			continue
		}
		filled++
		_, price := pk.rightSize(t.sg, t.c, &pk.cur)
		worth := pk.cur.worth(price)
		results = append(results, result{t, worth, pk.cur.value, pk.wide(t)})
		if worth > bestWorth {
			bestWorth = worth
		}
	}
	if len(results) == 0 {
		return false
	}
	var pick *result
	for i := range results {
		r := &results[i]
		if r.worth < bestWorth*(1-pk.opt.within)-1e-12 {
			continue
		}
		if pick == nil || r.wide && !pick.wide || r.wide == pick.wide && r.value > pick.value {
			pick = r
		}
	}
	pk.fill(pick.t.sg, pick.t.c, seed, k, &pk.cur)
	pk.keepMinValues(&pk.cur)
	return pk.commit(pick.t.sg, pick.t.c, &pk.cur)
}

// worth is what the units that are at home on the node are worth for each dollar
// that it costs them: guests pay what they would cost elsewhere. Without that a
// large node full of guests would look better than a small one that does for
// the few that must be here.
func (f *filling) worth(price float64) float64 {
	return (f.value - f.guest) / max(price-f.guest, 1e-9)
}

// keepMinValues takes off what a filling got last until enough different types
// hold the rest for the pool's minValues.
func (pk *packer) keepMinValues(f *filling) {
	s := pk.s
	if len(f.loads) == 0 || len(s.states[f.st].pool.minValues) == 0 || s.p.Options.MinValuesBestEffort {
		return
	}
	for len(f.loads) > 0 {
		req := f.req(s.nd)
		if s.minValuesHold(f.st, &req) {
			return
		}
		last := &f.loads[len(f.loads)-1]
		drop := (last.k + 1) / 2
		f.rem.addTimes(&last.it.req, drop, s.nd)
		f.value -= last.it.value * float64(drop)
		if last.k -= drop; last.k > 0 {
			continue
		}
		f.loads = f.loads[:len(f.loads)-1]
		f.st = pk.base[s.states[f.st].pool.index]
		f.guest = min(f.guest, f.value)
		for _, l := range f.loads {
			f.st = s.advance(f.st, l.it.sig)
		}
	}
}

// wide tells whether a candidate leaves a spot launch enough types to choose from.
func (pk *packer) wide(t try) bool {
	return !t.sg.spot || t.c.options >= pk.opt.options
}

// tries lists the candidates of a kind in the order in which they are worth a
// look: by the most that a full load could be worth for the price, larger first.
func (pk *packer) tries(k int) []try {
	if pk.tryCache[k] != nil {
		return pk.tryCache[k]
	}
	s := pk.s
	type ranked struct {
		sg          *segment
		worth, home float64
	}
	segs := make([]ranked, 0, len(pk.round.ofKind[k]))
	for _, sg := range pk.round.ofKind[k] {
		worth, home := pk.homeWorth(sg, k)
		segs = append(segs, ranked{sg, worth, home})
	}
	// Of two columns with the same type and price the one in the segment where
	// more of what is left is at home is tried.
	slices.SortStableFunc(segs, func(a, b ranked) int { return cmp.Compare(b.worth, a.worth) })
	type sameType struct {
		pool  int
		typ   int32
		price float64
	}
	seen := map[sameType]bool{}
	out := make([]try, 0, 64)
	for _, r := range segs {
		for i := range r.sg.cands {
			c := &r.sg.cands[i]
			key := sameType{r.sg.pool.index, c.typ, c.price}
			if seen[key] {
				continue
			}
			seen[key] = true
			t := try{r.sg, c, r.sg.w.of(&c.room, s.nd) / c.price * r.home}
			if !pk.wide(t) {
				t.ub *= 0.999
			}
			out = append(out, t)
		}
	}
	// Only the promising ones are put in order; the others are for loads that
	// none of those can take.
	out = slices.Clip(out)
	top := 0.0
	for _, t := range out {
		top = max(top, t.ub)
	}
	good := 0
	for i := range out {
		if out[i].ub >= top*promising {
			out[good], out[i] = out[i], out[good]
			good++
		}
	}
	slices.SortFunc(out[:good], func(a, b try) int {
		// Bounds that differ by less than rounding are the same.
		return cmp.Or(cmp.Compare(math.Round(b.ub*1e9), math.Round(a.ub*1e9)), cmp.Compare(b.c.price, a.c.price),
			cmp.Compare(a.c.typ, b.c.typ), cmp.Compare(a.sg.pool.index, b.sg.pool.index), cmp.Compare(a.c.col, b.c.col))
	})
	pk.tryCache[k] = append(pk.varied(out[:good]), out[good:]...)
	return pk.tryCache[k]
}

// triesFor lists the candidates to look at now. For a seed that few pods a node
// may have, the cheapest candidates that hold as many of it as one node may have
// come first: when what could keep it company is used up, they lose least.
func (pk *packer) triesFor(seed *item, k int) []try {
	all := pk.tries(k)
	if seed == nil || seed.selfCap >= noCap {
		return all
	}
	var req vec
	req.addTimes(&seed.req, min(seed.selfCap, pk.n[seed.id]), pk.s.nd)
	small := make([]try, 0, smallTries+1)
	for _, t := range all {
		if !req.within(&t.c.room, pk.s.nd) {
			continue
		}
		i := len(small)
		for i > 0 && small[i-1].c.price > t.c.price {
			i--
		}
		if i < smallTries {
			small = slices.Insert(small, i, t)
			small = small[:min(len(small), smallTries)]
		}
	}
	return append(small, all...)
}

const (
	smallTries = 4
	promising  = 0.75
)

// varied orders candidates so that each proportion of memory to cores has its
// turn: which of them the load that is left can fill is known only by trying.
func (pk *packer) varied(in []try) []try {
	var lanes [8][]try
	for _, t := range in {
		gib := float64(t.c.room[dimMemory]) / (1 << 30) / max(0.1, float64(t.c.room[dimCPU])/1000)
		l := min(7, max(0, int(math.Round(math.Log2(max(0.1, gib))))))
		lanes[l] = append(lanes[l], t)
	}
	out := in[:0:0]
	for len(out) < len(in) {
		for l := range lanes {
			if len(lanes[l]) > 0 {
				out = append(out, lanes[l][0])
				lanes[l] = lanes[l][1:]
			}
		}
	}
	return out
}

// homeWorth is the worth of what is left and at home in a segment, and what part
// of the worth of its resources there the kind's own items have.
func (pk *packer) homeWorth(sg *segment, k int) (left, part float64) {
	own, full := 0.0, 0.0
	for b := range sg.buckets {
		bk := &sg.buckets[b]
		here := sg.w.of(&bk.req, pk.s.nd)
		for _, it := range bk.items {
			n := float64(pk.n[it.id])
			if n == 0 {
				continue
			}
			if it.value >= here*atHome {
				left += it.value * n
			}
			if pk.kindOf[it.id] == k {
				own += it.value * n
				full += here * n
			}
		}
	}
	if full <= 0 {
		return left, 1
	}
	return left, min(1, own/full)
}

// rightSize is the cheapest candidate of the segment that holds a load.
func (pk *packer) rightSize(sg *segment, c *candidate, f *filling) (*candidate, float64) {
	req := c.room
	req.sub(&f.rem, pk.s.nd)
	for i := range sg.cands {
		o := &sg.cands[i]
		if o.price >= c.price || len(sg.pool.minValues) > 0 {
			break
		}
		if req.within(&o.room, pk.s.nd) && pk.limitAllows(sg.pool, o.typ, 1) {
			return o, o.price
		}
	}
	return c, c.price
}

func (pk *packer) limitAllows(p *pool, t int32, count int64) bool {
	for i := range p.limits {
		l := &p.limits[i]
		if pk.spent[p.index][i]+l.cap[t]*count > l.max {
			return false
		}
	}
	return true
}

// commit books the load and as many copies as what is left allows. Half of what
// would go, so that the mix of the rest does not run away, and all where a load
// is of one item.
func (pk *packer) commit(sg *segment, c *candidate, f *filling) bool {
	s := pk.s
	if len(f.loads) == 0 {
		return false
	}
	req := f.req(s.nd)
	c, price := pk.rightSize(sg, c, f)
	m := int64(math.MaxInt64)
	for _, l := range f.loads {
		m = min(m, pk.n[l.it.id]/l.k)
	}
	if len(f.loads) > 1 {
		m = (m + 1) / 2
	}
	for m > 1 && !pk.limitAllows(sg.pool, c.typ, m) {
		m /= 2
	}
	for _, l := range f.loads {
		pk.n[l.it.id] -= l.k * m
		pk.units[pk.kindOf[l.it.id]] -= l.k * m
		pk.rest -= l.it.value * float64(l.k*m)
	}
	for i := range sg.pool.limits {
		pk.spent[sg.pool.index][i] += sg.pool.limits[i].cap[c.typ] * m
	}
	pk.out = append(pk.out, pattern{loads: slices.Clone(f.loads), count: m, pool: sg.pool, col: c.col, price: price, st: f.st, req: req})
	pk.price += price * float64(m)
	pk.nodes += m
	return true
}
