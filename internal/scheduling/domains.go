package scheduling

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// part is some pods of a class that share a signature: the class's own, or one
// that a topology rule pinned to a domain.
type part struct {
	c    *class
	sig  int32
	pods []int32
	why  string
}

// domainChoice is a domain that a part may take.
type domainChoice struct {
	name string
	cost float64 // price of the pod's share of the cheapest node there, an hour
	room int64   // pods that fit where no node can be made; else unbounded
}

// planDomains decides, for each rule whose domain is not the node, how many pods
// of each class every domain takes, and pins them there. What is left for
// packing has no such rule to look at. Keys come in order; each key splits the
// parts that the keys before it made.
func (s *solver) planDomains() []part {
	parts := make([]part, 0, len(s.classes))
	for _, c := range s.classes {
		parts = append(parts, part{c: c, sig: c.sig, pods: c.pods})
	}
	for _, key := range s.domainKeys() {
		parts = s.splitByKey(key, parts)
	}
	return parts
}

// domainKeys lists the topology keys in play, the node's name excepted.
func (s *solver) domainKeys() []string {
	seen := map[string]bool{}
	for _, c := range s.classes {
		for _, r := range c.hard {
			seen[s.groups[r.g].key] = true
		}
		for _, r := range c.soft {
			seen[s.groups[r.g].key] = true
		}
	}
	delete(seen, hostKey)
	return sortedKeys(seen)
}

// splitByKey pins the parts that a rule of the key concerns.
func (s *solver) splitByKey(key string, parts []part) []part {
	var out, todo []part
	for _, p := range parts {
		if p.sig >= 0 && s.concerns(p.c, key) {
			todo = append(todo, p)
		} else {
			out = append(out, p)
		}
	}
	if len(todo) == 0 {
		return out
	}
	choices := s.orderForDomains(key, todo)
	for i := range todo {
		makeable := choices[i]
		if todo[i].sig != todo[i].c.sig {
			// Pinned by another key already; the rule knows nothing of that.
			makeable = s.domainChoices(key, &part{c: todo[i].c, sig: todo[i].c.sig})
		}
		s.countMakeable(key, &todo[i], makeable)
	}
	// A pod with an affinity waits until what it wants to be near has a place.
	pending := make([]int, len(todo))
	for i := range pending {
		pending[i] = i
	}
	for len(pending) > 0 {
		var later []int
		for at, i := range pending {
			if s.mustWait(key, todo[i].c) || s.shouldWait(key, todo[i].c, todo, pending[at:]) {
				later = append(later, i)
				continue
			}
			out = append(out, s.splitPart(key, &todo[i], choices[i], todo, choices)...)
		}
		if len(later) == len(pending) {
			for _, i := range later {
				out = append(out, s.splitPart(key, &todo[i], choices[i], todo, choices)...)
			}
			break
		}
		pending = later
	}
	return out
}

func (s *solver) concerns(c *class, key string) bool {
	for _, r := range c.hard {
		if s.groups[r.g].key == key {
			return true
		}
	}
	for _, r := range c.soft {
		if s.groups[r.g].key == key {
			return true
		}
	}
	return false
}

// orderForDomains puts first what has the least freedom: higher priority, then
// rules of its own, then fewer domains. It returns the domains of each.
func (s *solver) orderForDomains(key string, parts []part) [][]domainChoice {
	type ranked struct {
		part
		choices []domainChoice
		owns    int
		wants   int // 1 for what would like to be near others
	}
	list := make([]ranked, len(parts))
	for i := range parts {
		list[i] = ranked{part: parts[i], choices: s.domainChoices(key, &parts[i])}
		for _, r := range parts[i].c.hard {
			if r.own && s.groups[r.g].key == key {
				list[i].owns++
			}
		}
		if s.wantsOthers(key, parts[i].c) {
			list[i].wants = 1
		}
	}
	slices.SortStableFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.c.shape.priority, a.c.shape.priority), cmp.Compare(a.wants, b.wants), cmp.Compare(b.owns, a.owns), cmp.Compare(len(a.choices), len(b.choices)))
	})
	choices := make([][]domainChoice, len(parts))
	for i := range list {
		parts[i], choices[i] = list[i].part, list[i].choices
	}
	return choices
}

// wantsOthers tells whether a class would like to be near pods that are not its
// own: those should have their place first.
func (s *solver) wantsOthers(key string, c *class) bool {
	return slices.ContainsFunc(c.soft, func(r softRef) bool {
		g := s.groups[r.g]
		return g.kind == affinity && g.key == key && r.own && !r.match
	})
}

// mustWait tells whether a class has an affinity to pods that have no domain yet.
func (s *solver) mustWait(key string, c *class) bool {
	for _, r := range c.hard {
		if g := s.groups[r.g]; r.own && !r.match && g.kind == affinity && g.key == key && s.tallies[r.g].total == 0 {
			return true
		}
	}
	return false
}

// shouldWait tells whether a class could be the first that its own affinity is to,
// but others that it is to and that wait for nothing have no domain yet: once they
// are bound elsewhere, nobody may be first any more.
func (s *solver) shouldWait(key string, c *class, todo []part, pending []int) bool {
	for _, r := range c.hard {
		g := s.groups[r.g]
		if !r.own || !r.match || g.kind != affinity || g.key != key || s.tallies[r.g].total > 0 {
			continue
		}
		for _, i := range pending {
			for _, o := range todo[i].c.hard {
				if o.g == r.g && o.match && !o.own {
					return true
				}
			}
		}
	}
	return false
}

// domainChoices lists the domains in which nodes for the part stand or can be
// made, ordered by name.
func (s *solver) domainChoices(key string, p *part) []domainChoice {
	cost := map[string]float64{}
	for _, pl := range s.pools {
		f := s.fitOf(p.sig, pl)
		if !f.ok {
			continue
		}
		for name, c := range s.domainCosts(key, p.c, p.sig, pl, f) {
			if old, ok := cost[name]; !ok || c < old {
				cost[name] = c
			}
		}
	}
	out := make([]domainChoice, 0, len(cost))
	for _, name := range sortedKeys(cost) {
		out = append(out, domainChoice{name, cost[name], math.MaxInt64})
	}
	room := map[string]int64{}
	for name, nodes := range s.inDomain(key) {
		if _, made := cost[name]; made {
			continue
		}
		for _, n := range nodes {
			if k := p.c.req.times(&n.free, s.nd); k > 0 && s.nodeAllows(n, p.sig) {
				room[name] += k
			}
		}
	}
	for _, name := range sortedKeys(room) {
		out = append(out, domainChoice{name, 0, room[name]})
	}
	slices.SortFunc(out, func(a, b domainChoice) int { return strings.Compare(a.name, b.name) })
	return out
}

type costKey struct {
	key  string
	sig  int32
	pool int
	req  vec
	part float64
}

// leastShare is the least part of a node that a pod of a class will have to pay:
// where its rules let few share a node, or where there is little to place at all.
func (s *solver) leastShare(c *class) float64 {
	least := 0.0
	if cap := s.hostCap(nil, s.hostParts(c, 1)); cap > 0 && cap < noCap {
		least = 1 / float64(cap)
	}
	if all := s.bulk(&s.demand); all > 0 {
		least = max(least, s.bulk(&c.req)/all)
	}
	return min(1, least)
}

// domainCosts is the price of a pod's share of the cheapest new node, by domain.
func (s *solver) domainCosts(key string, class *class, sig int32, pl *pool, f *fit) map[string]float64 {
	req := &class.req
	least := s.leastShare(class)
	ck := costKey{key, sig, pl.index, *req, least}
	if m, ok := s.costs[ck]; ok {
		return m
	}
	m := map[string]float64{}
	shares := s.typeShares(pl, req)
	cost := func(c int) float64 {
		part := shares[pl.u.cols[c].typ]
		if part < 0 || pl.u.cols[c].off.ReservationID != "" {
			return math.Inf(1)
		}
		return pl.u.cols[c].price * max(least, part)
	}
	if i, isFree := slices.BinarySearch(pl.freeKeys, key); isFree {
		low := math.Inf(1)
		f.cols.each(func(c int) { low = min(low, cost(c)) })
		if !math.IsInf(low, 1) {
			for _, name := range freeNames(pl, f, i) {
				m[name] = low
			}
		}
	} else {
		idx := pl.u.index(key)
		low := make([]float64, len(idx.dict))
		for v := range low {
			low[v] = math.Inf(1)
		}
		f.cols.each(func(c int) {
			if v := idx.of(pl.u, c); v >= 0 {
				low[v] = min(low[v], cost(c))
			}
		})
		for v, x := range low {
			if !math.IsInf(x, 1) {
				m[idx.dict[v]] = x
			}
		}
	}
	s.costs[ck] = m
	return m
}

// freeNames are the values that a pool leaves open for one of its own labels.
func freeNames(pl *pool, f *fit, i int) []string {
	v := pl.freeBase[i]
	if f.free != nil {
		v = f.free[i]
	}
	if !v.neg {
		return v.list
	}
	if name, ok := v.pick(); ok {
		return []string{name}
	}
	return nil
}

type sharesKey struct {
	pool int
	req  vec
}

// typeShares is, for each type, the part of a node's room that a pod takes; -1
// where it does not fit.
func (s *solver) typeShares(pl *pool, req *vec) []float64 {
	k := sharesKey{pl.index, *req}
	if v, ok := s.shareOf[k]; ok {
		return v
	}
	out := make([]float64, len(pl.u.types))
	for t := range out {
		out[t] = -1
		if req.within(&pl.room[t], s.nd) {
			out[t] = share(req, &pl.room[t], s.nd)
		}
	}
	s.shareOf[k] = out
	return out
}

// share is the largest part of a node's room that a pod takes, over resources.
func share(req, room *vec, nd int) float64 {
	most := 0.0
	for d := 0; d < nd; d++ {
		if req[d] > 0 && room[d] > 0 {
			most = max(most, float64(req[d])/float64(room[d]))
		}
	}
	return most
}

// countMakeable lets the domains that an owner can use take part in the minimum
// of its spread rules.
func (s *solver) countMakeable(key string, p *part, choices []domainChoice) {
	for _, r := range p.c.hard {
		s.countDomains(key, p.c, r, choices)
	}
	for _, r := range p.c.soft {
		s.countDomains(key, p.c, r.ref, choices)
	}
}

// countDomains counts the domains among the choices where a node can be made that
// the rule counts.
func (s *solver) countDomains(key string, c *class, r ref, choices []domainChoice) {
	g := s.groups[r.g]
	if g.key != key {
		return
	}
	t := &s.tallies[r.g]
	for _, c := range choices {
		t.domain(c.name)
	}
	if !r.own || g.kind != spread {
		return
	}
	for _, p := range s.pools {
		st := s.advance(s.baseState(p), c.sig)
		if st < 0 {
			continue
		}
		for _, name := range s.countedValues(st, g) {
			if i, ok := slices.BinarySearchFunc(choices, name, func(c domainChoice, n string) int { return strings.Compare(c.name, n) }); ok && choices[i].room == math.MaxInt64 {
				t.counted[t.domain(name)] = true
			}
		}
	}
}

// splitPart gives each pod of a part a domain.
func (s *solver) splitPart(key string, p *part, choices []domainChoice, all []part, allChoices [][]domainChoice) []part {
	taken := make([][]int32, len(choices))
	used := make([]int64, len(choices))
	var out []part
	for k, pod := range p.pods {
		best, bestScore := -1, math.Inf(1)
		for i := range choices {
			if used[i] >= choices[i].room || !s.domainAdmits(key, p.c, choices[i].name) {
				continue
			}
			score := s.domainScore(key, p.c, &choices[i], all, allChoices)
			if score < bestScore {
				best, bestScore = i, score
			}
		}
		if best < 0 {
			// The rest of the class fares no better: nothing has changed.
			out = append(out, part{c: p.c, sig: -1, pods: p.pods[k:]})
			break
		}
		used[best]++
		taken[best] = append(taken[best], pod)
		s.countPod(key, p.c, choices[best].name)
	}
	for i := range choices {
		if len(taken[i]) > 0 {
			out = append(out, part{c: p.c, sig: s.pinned(p.sig, key, oneOf(choices[i].name)), pods: taken[i], why: joinWhy(p.why, shortKey(key)+" "+choices[i].name)})
		}
	}
	return out
}

func joinWhy(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}

func shortKey(key string) string {
	if i := strings.LastIndexByte(key, '/'); i >= 0 {
		return key[i+1:]
	}
	return key
}

// domainAdmits checks every hard rule of the key.
func (s *solver) domainAdmits(key string, c *class, name string) bool {
	for _, r := range c.hard {
		g := s.groups[r.g]
		if g.key != key {
			continue
		}
		t := &s.tallies[r.g]
		if !t.admits(g, r, t.domain(name)) {
			return false
		}
	}
	return true
}

// countPod books a pod in its domain for every rule of the key.
func (s *solver) countPod(key string, c *class, name string) {
	for _, r := range c.hard {
		s.book(key, r, name)
	}
	for _, r := range c.soft {
		if !s.hardGroup[r.g] {
			s.book(key, r.ref, name)
		}
	}
}

func (s *solver) book(key string, r ref, name string) {
	if s.groups[r.g].key != key {
		return
	}
	t := &s.tallies[r.g]
	var by, own int32
	if r.match {
		by = 1
	}
	if r.own {
		own = 1
	}
	t.add(t.domain(name), by, own)
}

// domainScore is the price of a pod in a domain, made dearer by what it would
// rather not: a preference of weight w is worth w per cent of the price. Pods
// that others count are spread where those want spread, and kept together where
// those want to be near or away.
func (s *solver) domainScore(key string, c *class, ch *domainChoice, all []part, choices [][]domainChoice) float64 {
	penalty := 0.0
	for _, r := range c.hard {
		g := s.groups[r.g]
		if g.key != key {
			continue
		}
		t := &s.tallies[r.g]
		d := t.domain(ch.name)
		switch {
		case g.kind == affinity && r.own && r.match && t.total == 0:
			penalty += s.coverage(r.g, ch.name, all, choices)
		case g.kind == spread && !r.own && t.count[d] > t.least(g, -1, 0):
			// Out of balance the pods that declare the rule could go nowhere.
			penalty += 100
		case g.kind != spread && !r.own && t.count[d] == 0 && t.total > 0:
			penalty++
		case g.kind == spread && r.own:
			// Among domains of one price the emptier one.
			penalty += 1e-6 * float64(t.count[d]-t.least(g, -1, 0))
		}
	}
	for _, r := range c.soft {
		g := s.groups[r.g]
		if g.key != key || !r.own {
			continue
		}
		t := &s.tallies[r.g]
		d := t.domain(ch.name)
		w := float64(r.weight) / 100
		switch g.kind {
		case spread:
			if t.count[d]+1-t.least(g, -1, 0) > g.maxSkew {
				penalty += w * float64(t.count[d]+1-t.least(g, -1, 0)-g.maxSkew)
			}
		case anti:
			penalty += w * float64(t.count[d])
		case affinity:
			if t.count[d] == 0 && (t.total > 0 || !r.match) {
				penalty += w
			}
		}
	}
	return ch.cost*(1+penalty) + 1e-9*penalty
}

// coverage is how many of an affinity group's pods could not follow the first
// one into a domain, as a penalty.
func (s *solver) coverage(g int32, name string, all []part, choices [][]domainChoice) float64 {
	lost := 0
	for i := range all {
		if !slices.ContainsFunc(all[i].c.hard, func(r ref) bool { return r.g == g && r.own }) {
			continue
		}
		if !slices.ContainsFunc(choices[i], func(c domainChoice) bool { return c.name == name }) {
			lost += len(all[i].pods)
		}
	}
	return float64(lost) * 10
}
