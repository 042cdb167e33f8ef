package scheduling

import (
	"slices"
	"sort"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// maxTypes is how many types one launch request may carry.
const maxTypes = 60

// choices is what may be launched for a load: the cheapest column and the types,
// zones and capacity types of which every offered combination holds the load.
type choices struct {
	col           int32
	types         []int32
	zones, ctypes []string
	names         []string
}

// finish turns the working state into a result.
func (s *solver) finish(nodes []*openNode) *Result {
	res := &Result{}
	kept := nodes[:0]
	for _, n := range nodes {
		if len(n.pods) > 0 {
			kept = append(kept, n)
		}
	}
	nodes = kept
	for _, n := range s.standing {
		if len(n.pods) > 0 {
			l := Landing{Node: n.index, Pods: make([]int, len(n.pods))}
			for i, p := range n.pods {
				l.Pods[i] = int(p)
			}
			s.sortPods(l.Pods)
			res.Standing = append(res.Standing, l)
		}
	}
	res.LowerBound = s.lowerBound(nodes)
	res.Nodes = s.describe(nodes)
	for _, sp := range s.strays {
		why := s.reasons(sp.c)
		for _, pod := range sp.pods {
			s.leave(pod, why...)
		}
	}
	res.Left = s.left
	slices.SortFunc(res.Left, func(a, b Left) int { return int(s.rank[a.Pod]) - int(s.rank[b.Pod]) })
	return res
}

func (s *solver) sortPods(pods []int) {
	slices.SortFunc(pods, func(a, b int) int { return int(s.rank[a]) - int(s.rank[b]) })
}

type choiceKey struct {
	st  int32
	req vec
}

// describe works out the launch choices of every node, the dearest first in the
// list that people read.
func (s *solver) describe(nodes []*openNode) []Node {
	cache := map[choiceKey]*choices{}
	slack := s.limitSlack(nodes)
	out := make([]Node, 0, len(nodes))
	for _, n := range nodes {
		key := choiceKey{n.st, n.req}
		var ch *choices
		if len(n.pool.limits) == 0 {
			ch = cache[key]
		}
		if ch == nil {
			ch = s.choose(n, slack[n.pool.index])
			cache[key] = ch
		}
		out = append(out, s.node(n, ch))
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := &out[i], &out[j]
		if p, q := s.p.Pools[a.Pool].Spec.Name, s.p.Pools[b.Pool].Spec.Name; p != q {
			return p < q
		}
		if a.Cheapest.Price != b.Cheapest.Price {
			return a.Cheapest.Price > b.Cheapest.Price
		}
		if a.Cheapest.Type.Name != b.Cheapest.Type.Name {
			return a.Cheapest.Type.Name < b.Cheapest.Type.Name
		}
		return s.rank[a.Pods[0]] < s.rank[b.Pods[0]]
	})
	return out
}

// limitSlack is what the limits of each pool leave beyond what the nodes are
// charged.
func (s *solver) limitSlack(nodes []*openNode) [][]int64 {
	out := make([][]int64, len(s.pools))
	for i, p := range s.pools {
		out[i] = make([]int64, len(p.limits))
		for k := range p.limits {
			out[i][k] = p.limits[k].max - s.p.Pools[p.source].InUse.Get(p.limits[k].name)
		}
	}
	for _, n := range nodes {
		for k := range n.charge {
			out[n.pool.index][k] -= n.charge[k]
		}
	}
	return out
}

// choose lists the choices of a node. A launch is charged to the limits at the
// largest type that it allows, so types that would break one are left out, and
// what the others may take more than the node is charged comes off the slack.
func (s *solver) choose(n *openNode, slack []int64) *choices {
	p := n.pool
	if p.u.cols[n.col].off.ReservationID != "" {
		off := p.u.cols[n.col].off
		return &choices{col: n.col, types: []int32{p.u.cols[n.col].typ}, zones: []string{off.Zone}, ctypes: []string{off.CapacityType}}
	}
	usable := s.usable(p, n.st, &n.req, func(t int32) bool {
		for k := range p.limits {
			if p.limits[k].cap[t]-n.charge[k] > slack[k] {
				return false
			}
		}
		return true
	})
	s.avoidNewDomains(n, usable)
	ch := s.product(n, usable)
	for k, most := range p.largest(ch.types) {
		slack[k] -= most - n.charge[k]
	}
	return ch
}

// avoidNewDomains leaves out columns that would bring a domain into being which
// a spread rule did not count on, where others remain.
func (s *solver) avoidNewDomains(n *openNode, usable bitset) {
	u := n.pool.u
	for id, g := range s.groups {
		if g.kind != spread || g.host() || !s.hardGroup[id] || !u.describes(g.key) {
			continue
		}
		bad := s.newDomains(int32(id), u)
		if bad != nil && g.filter >= 0 {
			bad = s.filteredOf(n.st, g, bad)
		}
		if bad == nil || !usable.intersects(bad) || s.stateCounts(n.st, g) == never {
			continue
		}
		rest := usable.clone()
		for w := range rest {
			rest[w] &^= bad[w]
		}
		if !rest.empty() && s.enoughValues(n.pool, rest) {
			copy(usable, rest)
		}
	}
}

// newDomains are the columns in domains that a spread rule does not count; nil
// when there are none.
func (s *solver) newDomains(id int32, u *universe) bitset {
	k := domainsKey{id, u}
	if b, ok := s.uncounted[k]; ok {
		return b
	}
	t := &s.tallies[id]
	names := ""
	for _, d := range t.ordered() {
		if t.counted[d] {
			names += t.names[d] + "\x00"
		}
	}
	key := s.groups[id].key
	b, ok := u.outside[key+"\x00"+names]
	if !ok {
		idx := u.index(key)
		for i, v := range idx.val {
			if v < 0 {
				continue
			}
			if d, known := t.index[idx.dict[v]]; known && t.counted[d] {
				continue
			}
			if b == nil {
				b = newBitset(len(u.cols))
			}
			if idx.perColumn {
				b.set(i)
			} else {
				b.setRange(int(u.first[i]), int(u.first[i+1]))
			}
		}
		u.outside[key+"\x00"+names] = b
	}
	s.uncounted[k] = b
	return b
}

type domainsKey struct {
	g int32
	u *universe
}

// byPrice is the columns, the cheapest first.
func (u *universe) byPrice() []int32 {
	if u.priced == nil {
		u.priced = make([]int32, len(u.cols))
		for i := range u.priced {
			u.priced[i] = int32(i)
		}
		slices.SortStableFunc(u.priced, func(a, b int32) int {
			switch x, y := u.cols[a].price, u.cols[b].price; {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
	}
	return u.priced
}

// node writes a node for the result.
func (s *solver) node(n *openNode, ch *choices) Node {
	u := n.pool.u
	c := &u.cols[ch.col]
	t := &u.types[c.typ]
	out := Node{
		Pool: n.pool.source,
		Cheapest: Choice{Type: t, Zone: c.off.Zone, CapacityType: c.off.CapacityType, ReservationID: c.off.ReservationID,
			Price: c.price, Estimate: c.off.Estimate},
		Zones:         ch.zones,
		CapacityTypes: ch.ctypes,
		Why:           n.why,
	}
	out.Types = s.typeNames(u, ch)
	out.Pods = make([]int, len(n.pods))
	for i, p := range n.pods {
		out.Pods[i] = int(p)
	}
	s.sortPods(out.Pods)
	daemons := n.pool.daemons[c.typ]
	out.Daemons = s.resourcesOf(&daemons)
	all := n.req
	all.add(&daemons, s.nd)
	out.Requests = s.resourcesOf(&all)
	out.Labels, out.Requirements = s.nodeLabels(n, ch)
	return out
}

// typeNames shares one list among the nodes with the same choices.
func (s *solver) typeNames(u *universe, ch *choices) []string {
	if ch.names == nil {
		ch.names = make([]string, len(ch.types))
		for i, t := range ch.types {
			ch.names[i] = u.types[t].Name
		}
	}
	return ch.names
}

// nodeLabels are the labels that the node will have whatever is launched, and
// the requirements of its claim.
func (s *solver) nodeLabels(n *openNode, ch *choices) (map[string]string, []cluster.Requirement) {
	labels := map[string]string{}
	for k, v := range n.pool.spec.Labels {
		labels[cluster.NormalLabel(k)] = v
	}
	reqs := []cluster.Requirement{
		{Key: cluster.LabelInstanceType, Operator: cluster.In, Values: s.typeNames(n.pool.u, ch)},
		{Key: cluster.LabelCapacityType, Operator: cluster.In, Values: ch.ctypes},
		{Key: cluster.LabelZone, Operator: cluster.In, Values: ch.zones},
	}
	free := n.pool.freeBase
	if st := s.states[n.st]; st.free != nil {
		free = st.free
	}
	for i, key := range n.pool.freeKeys {
		v := free[i]
		if v.absent {
			if !v.neg && len(v.list) == 0 {
				continue
			}
			if v.neg {
				reqs = append(reqs, v.requirements(key)...)
				continue
			}
		}
		if name, ok := v.pick(); ok {
			labels[key] = name
			reqs = append(reqs, cluster.Requirement{Key: key, Operator: cluster.In, Values: []string{name}})
		}
	}
	one := func(key string) {
		first := ""
		for i, t := range ch.types {
			v, ok := typeLabel(&n.pool.u.types[t], key)
			if !ok || i > 0 && v != first {
				return
			}
			first = v
		}
		if first != "" {
			labels[key] = first
		}
	}
	for _, key := range []string{cluster.LabelArch, cluster.LabelOS, cluster.LabelRegion, cluster.LabelInstanceType} {
		one(key)
	}
	if len(ch.zones) == 1 {
		labels[cluster.LabelZone] = ch.zones[0]
	}
	if len(ch.ctypes) == 1 {
		labels[cluster.LabelCapacityType] = ch.ctypes[0]
	}
	if v, ok := labels[cluster.LabelArch]; ok {
		reqs = append(reqs, cluster.Requirement{Key: cluster.LabelArch, Operator: cluster.In, Values: []string{v}})
	}
	return labels, reqs
}

// minValuesHold tells whether enough different types are left for the pool's
// minValues.
func (s *solver) minValuesHold(id int32, req *vec) bool {
	st := s.states[id]
	p := st.pool
	if len(p.minValues) == 0 || s.p.Options.MinValuesBestEffort {
		return true
	}
	for _, mv := range p.minValues {
		seen := map[string]bool{}
		st.cols.each(func(i int) {
			if len(seen) < mv.n && req.within(&p.room[p.u.cols[i].typ], s.nd) {
				if v, ok := p.u.columnValue(mv.key, i); ok {
					seen[v] = true
				}
			}
		})
		if len(seen) < mv.n {
			return false
		}
	}
	return true
}
