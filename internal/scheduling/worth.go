package scheduling

// lot is the units left of all items of one kind that ask for the same.
type lot struct {
	kind  int
	req   vec
	items []*item
	segs  []*segment // that may open nodes for it
	n     int64
	worth float64
	boost float64 // how much dearer the lot proved in the runs so far
}

// How many steps the weights take: from scratch, and when some of the demand has
// gone since.
const (
	firstSteps = 24
	againSteps = 5
)

// makeLots groups the items for weighing.
func (r *round) makeLots(s *solver) {
	type key struct {
		kind  int
		shape int32
	}
	at := map[key]int{}
	for i, it := range s.items {
		if r.kindOf[i] < 0 {
			continue
		}
		k := key{r.kindOf[i], it.shape}
		l, ok := at[k]
		if !ok {
			l = len(r.lots)
			at[k] = l
			r.lots = append(r.lots, lot{kind: r.kindOf[i], req: it.req, segs: r.ofKind[r.kindOf[i]], boost: 1})
		}
		r.lots[l].items = append(r.lots[l].items, it)
	}
}

// weigh sets what an hour of each item is worth. Every segment has a weight for
// each resource with w·room ≤ price for all its types, and an item is worth its
// request at the least weight of the segments that it may use. Such values are a
// solution of the dual of the fractional problem, and the larger their sum the
// better they tell what is dear: it is raised by conditional gradient steps. In
// each step the items go to the segment where they are worth least, which is
// where they would be cheapest, and the weights of each segment move towards
// those of the linear program for what came (M. Frank, P. Wolfe, 1956).
func (pk *packer) weigh(steps int) {
	s, r := pk.s, pk.round
	for i := range r.lots {
		l := &r.lots[i]
		l.n = 0
		for _, it := range l.items {
			l.n += pk.n[it.id]
		}
	}
	if steps == firstSteps {
		pk.startWeights()
	}
	best := -1.0
	keep := make([]weights, len(r.segs))
	for k := 0; ; k++ {
		sum := pk.assign()
		if sum > best {
			best = sum
			for i, sg := range r.segs {
				keep[i] = sg.w
			}
		}
		if k == steps {
			break
		}
		pace := 2 / float64(k+3)
		for _, sg := range r.segs {
			if sg.demand == (vec{}) {
				continue
			}
			w, ok := cover(sg.offers, &sg.demand, s.nd)
			if !ok {
				continue
			}
			for d := 0; d < s.nd; d++ {
				sg.w[d] += pace * (w[d] - sg.w[d])
			}
		}
	}
	for i, sg := range r.segs {
		sg.w = keep[i]
	}
	pk.assign()
	clear(pk.tryCache)
	pk.left = 0
	for i := range r.lots {
		l := &r.lots[i]
		for _, it := range l.items {
			it.value = l.worth * l.boost
			pk.left += it.value * float64(pk.n[it.id])
		}
	}
	pk.rest = pk.left
}

// startWeights weighs every segment as if it had to take all that may use it.
func (pk *packer) startWeights() {
	for _, sg := range pk.round.segs {
		sg.demand = vec{}
	}
	for i := range pk.round.lots {
		l := &pk.round.lots[i]
		for _, sg := range l.segs {
			sg.demand.addTimes(&l.req, l.n, pk.s.nd)
		}
	}
	for _, sg := range pk.round.segs {
		sg.w, _ = cover(sg.offers, &sg.demand, pk.s.nd)
	}
}

// assign sends each lot to the segment where it is worth least and returns what
// all are worth. A lot that no type of a segment could hold is left out there.
func (pk *packer) assign() float64 {
	for _, sg := range pk.round.segs {
		sg.demand = vec{}
	}
	sum := 0.0
	for i := range pk.round.lots {
		l := &pk.round.lots[i]
		if l.n == 0 {
			continue
		}
		var at *segment
		l.worth = 0
		for _, sg := range l.segs {
			if v := sg.w.of(&l.req, pk.s.nd); at == nil || v < l.worth {
				at, l.worth = sg, v
			}
		}
		if at != nil {
			at.demand.addTimes(&l.req, l.n, pk.s.nd)
			sum += l.worth * float64(l.n)
		}
	}
	return sum
}

// learn makes the lots dearer that ended on nodes which were not full: what a node
// costs beyond what its load is worth is what the load really costs. The linear
// program divides pods at will and cannot know that. The next run tries harder
// to find nodes that suit them.
func (pk *packer) learn(pace float64) {
	cost := make([]float64, len(pk.n))
	units := make([]float64, len(pk.n))
	for i := range pk.out {
		p := &pk.out[i]
		value := 0.0
		for _, l := range p.loads {
			value += l.it.value0 * float64(l.k)
		}
		if value <= 0 {
			continue
		}
		for _, l := range p.loads {
			k := float64(l.k * p.count)
			cost[l.it.id] += k * p.price / value
			units[l.it.id] += k
		}
	}
	for i := range pk.round.lots {
		l := &pk.round.lots[i]
		c, n := 0.0, 0.0
		for _, it := range l.items {
			c += cost[it.id]
			n += units[it.id]
		}
		if n > 0 {
			l.boost *= 1 + pace*(c/n-1)
		}
	}
}
