package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// How much a person is told of one pod: sentences, characters in each, names in a list.
const (
	maxReasons      = 12
	maxReasonLength = 300
	maxListed       = 4
)

// hurdle is where a pool failed a pod: the further, the nearer the miss.
type hurdle uint8

const (
	byTaint hurdle = iota
	byLabel
	byRequirement
	byRoom     // from here on the pool suits the pod, and could not serve it all the same
	byOffering // all that would do is unavailable
	byMinValues
	byLimit
	byNothing // the pool would do: rules of topology are in the way
)

// nearness puts the pools in three rows: those that could have served the pod but
// for something that ran out, those that have no type for it, the others.
func (h hurdle) nearness() int {
	switch {
	case h >= byOffering:
		return 2
	case h == byRoom:
		return 1
	}
	return 0
}

type miss struct {
	at   hurdle
	text string // "" when another sentence says it
}

// reasoner finds out why the pods of one class have no place, once all that
// could be placed is.
type reasoner struct {
	s      *solver
	c      *class
	sig    *signature // without preferences, which keep no pod away
	terms  []term     // the signature's, with the labels that rules of topology go by
	host   []hostPart
	names  []string      // of the dimensions
	short  []string      // what a node is that has too little of them
	beyond [maxDims]bool // resources of which no instance type has enough
}

// reasons says why a class found no place: first what concerns every pool, then
// pool by pool, near misses before pools that do not suit, last what stands.
func (s *solver) reasons(c *class) []string {
	r := &reasoner{s: s, c: c, sig: s.sigs[c.shape.sig], host: s.hostParts(c, 1)}
	for _, t := range r.sig.terms {
		for _, key := range s.keysOf(c) {
			if s.needsDomain(c, key) {
				t = t.and(key, valuesOf(cluster.Exists, nil))
			}
		}
		r.terms = append(r.terms, t)
	}
	for d, name := range slices.Concat(s.dims, s.attach) {
		if d >= s.firstAttach {
			name = "volumes of " + name
		}
		r.names, r.short = append(r.names, name), append(r.short, "short of "+name)
	}
	var out []string
	if len(s.pools) == 0 {
		out = append(out, "there is no NodePool that may open nodes: apply one, or make room on the nodes that stand")
	}
	out = append(out, r.tooMuch()...)
	pools, open := r.pools()
	rules := r.rules(open)
	if open && len(rules) == 0 {
		rules = append(rules, "no new node keeps all rules at once, those about other pods and the minValues of the NodePool: relax one")
	}
	out = slices.Concat(out, rules, pools)
	last := r.standing()
	if more := len(out) + len(last) - maxReasons; more > 0 {
		out = append(out[:len(out)-more-1], fmt.Sprintf("and %d more reasons", more+1))
	}
	out = append(out, last...)
	for i := range out {
		if text := []rune(out[i]); len(text) > maxReasonLength {
			out[i] = string(text[:maxReasonLength-1]) + "…"
		}
	}
	return out
}

// tooMuch names the resources of which no instance type has enough, whatever the pool.
func (r *reasoner) tooMuch() []string {
	var out []string
	for d := 0; d < r.s.nd; d++ {
		var top peak
		for _, p := range r.s.pools {
			for t := 0; t < len(p.u.types) && r.c.req[d] > top.all; t++ {
				all := p.room[t][d] + p.daemons[t][d]
				top.raise(p.u.types[t].Name, all, all)
			}
		}
		if top.name != "" && r.c.req[d] > top.all {
			r.beyond[d] = true
			out = append(out, r.lack(d, &top, "instance type", ""))
		}
	}
	return out
}

// peak is the type with the most room for one resource.
type peak struct {
	name      string
	room, all int64 // for pods; with what DaemonSets take
}

func (k *peak) raise(name string, room, all int64) {
	if k.name == "" || room > k.room { // of equals the first by name
		*k = peak{name, room, all}
	}
}

// lack says how much of a resource the best of some types has.
func (r *reasoner) lack(d int, top *peak, which, where string) string {
	name, asked := r.names[d], r.quantity(d, r.c.req[d])
	most := brief(name, max(0, top.room))
	switch {
	case d >= r.s.firstAttach:
		return fmt.Sprintf("uses %s; no %s attaches more than %s (%s)", asked, which, most, top.name)
	case r.c.req[d] <= top.all:
		return fmt.Sprintf("asks for %s; DaemonSets leave %s of the %s that the largest %s has (%s)", asked, most, brief(name, top.all), which, top.name)
	case top.all <= 0:
		known := map[string]bool{}
		for _, p := range r.s.pools {
			for t := range p.u.types {
				for _, x := range p.u.types[t].Allocatable {
					known[x.Name] = true
				}
			}
		}
		return "no " + which + " has " + asked + where + hint([]string{name}, sortedKeys(known))
	case d == dimCPU || cluster.IsBytes(name):
		return fmt.Sprintf("asks for %s; the largest %s has %s for pods (%s)", asked, which, most, top.name)
	}
	return fmt.Sprintf("no %s has %s%s: the most is %s (%s)", which, asked, where, most, top.name)
}

// pools judges every pool. open tells whether one would do but for topology.
func (r *reasoner) pools() (out []string, open bool) {
	type verdict struct {
		miss
		weight int32
		names  []string
	}
	var all []verdict
	for _, p := range r.s.pools {
		m := r.pool(p, r.terms)
		open = open || m.at == byNothing
		if m.text == "" {
			continue
		}
		if i := slices.IndexFunc(all, func(v verdict) bool { return v.text == m.text }); i >= 0 {
			all[i].names = append(all[i].names, strconv.Quote(p.spec.Name))
			continue
		}
		all = append(all, verdict{m, p.spec.Weight, []string{strconv.Quote(p.spec.Name)}})
	}
	slices.SortStableFunc(all, func(a, b verdict) int {
		return cmp.Or(cmp.Compare(b.at.nearness(), a.at.nearness()), cmp.Compare(b.weight, a.weight), cmp.Compare(b.at, a.at))
	})
	for _, v := range all {
		who := "NodePool "
		if len(v.names) > 1 {
			who = "NodePools "
		}
		out = append(out, who+list(v.names)+": "+v.text)
	}
	return out, open
}

// pool tells where a pool fails the pod, by the term that comes furthest.
func (r *reasoner) pool(p *pool, terms []term) miss {
	if taint, _ := r.sig.untolerated(p.taints); taint != nil {
		return miss{byTaint, "taint " + taint.ToString() + " is not tolerated"}
	}
	best := miss{byTaint, "its node selector, affinity and volumes leave nothing"}
	for _, t := range terms {
		if m := r.term(p, t); m.at > best.at {
			best = m
		}
	}
	return best
}

func (r *reasoner) term(p *pool, t term) miss {
	cols, _, why := p.meet(t)
	if why != "" {
		return miss{byLabel, r.unlabelled(p, t)}
	}
	apart := p.withoutClashes(r.sig.ports, cols)
	if apart.empty() && !cols.empty() {
		return miss{byRequirement, "a DaemonSet has one of its host ports on every node"}
	}
	types, fits, spent := r.usableTypes(p, apart)
	switch {
	case len(fits) > 0:
		return r.allowed(p, apart, fits)
	case spent != "":
		return miss{byOffering, "capacity reservation " + spent + " has no instance left"}
	}
	text := r.unavailable(p, t)
	switch {
	case text != "":
		return miss{byOffering, text}
	case len(p.u.cols) == 0:
		return miss{byOffering, "its node class has no instance type that is available"}
	case p.base.empty():
		return miss{byRequirement, "its own labels and requirements leave no instance type to launch"}
	case cols.empty():
		return miss{byRequirement, r.excluded(p, t)}
	}
	return miss{byRoom, r.tooSmall(p, cols, types)}
}

// usableTypes lists the types of some columns, and those that hold the pod. A
// reservation that is used up does not count; spent names one that would do.
func (r *reasoner) usableTypes(p *pool, cols bitset) (types, fits []int32, spent string) {
	cols.each(func(i int) {
		c := &p.u.cols[i]
		if n := len(types); n > 0 && types[n-1] == c.typ {
			return
		}
		holds := r.c.req.within(&p.room[c.typ], r.s.nd)
		switch id := c.off.ReservationID; {
		case id == "" || r.s.reservedUsed[id] < c.off.ReservationCount:
			if types = append(types, c.typ); holds {
				fits = append(fits, c.typ)
			}
		case holds:
			spent = id
		}
	})
	return types, fits, spent
}

// allowed judges limits and minValues over the types that hold the pod.
func (r *reasoner) allowed(p *pool, cols bitset, fits []int32) miss {
	if !slices.ContainsFunc(fits, func(t int32) bool { return r.s.withinLimits(p, t, nil) }) {
		return miss{byLimit, r.limit(p, fits)}
	}
	for _, mv := range p.minValues {
		seen := map[string]bool{}
		cols.each(func(i int) {
			t := p.u.cols[i].typ
			if v, ok := p.u.columnValue(mv.key, i); ok && r.c.req.within(&p.room[t], r.s.nd) && r.s.withinLimits(p, t, nil) {
				seen[v] = true
			}
		})
		if len(seen) < mv.n && !r.s.p.Options.MinValuesBestEffort {
			return miss{byMinValues, fmt.Sprintf("minValues %d of %s cannot be kept (%d left)", mv.n, mv.key, len(seen))}
		}
	}
	return miss{at: byNothing}
}

// limit names the limits that stop every type that holds the pod.
func (r *reasoner) limit(p *pool, fits []int32) string {
	var out []string
	for _, l := range p.limits {
		least := slices.MinFunc(fits, func(a, b int32) int { return cmp.Compare(l.cap[a], l.cap[b]) })
		if l.used+l.cap[least] <= l.max {
			continue
		}
		inUse := r.s.p.Pools[p.source].InUse.Get(l.name)
		text := fmt.Sprintf("limit %s %s reached (%s in use, %s planned", l.name, brief(l.name, l.max), brief(l.name, inUse), brief(l.name, l.used-inUse))
		if l.name != cluster.Nodes {
			text += fmt.Sprintf("; the smallest type that holds the pod counts %s, %s", brief(l.name, l.cap[least]), p.u.types[least].Name)
		}
		out = append(out, text+")")
	}
	if len(out) == 0 {
		return "its limits together leave no type that holds the pod"
	}
	return strings.Join(out, "; ")
}

// unavailable looks for what would do if only it could be had. The labels that the
// pool gives are for meet to judge.
func (r *reasoner) unavailable(p *pool, t term) string {
	types, zones, all := map[string]bool{}, map[string]bool{}, p.own().andTerm(t)
	for i := range p.u.types {
		it := &p.u.types[i]
		if len(it.Offerings) == int(p.u.first[i+1]-p.u.first[i]) || !r.c.req.within(&p.room[i], r.s.nd) {
			continue
		}
		for k := range it.Offerings {
			off := &it.Offerings[k]
			gone := off.Unavailable || off.ReservationID != "" && off.ReservationCount <= 0
			if gone && !slices.ContainsFunc(all, func(kv keyValues) bool {
				label, has := columnLabel(off, kv.key)
				if !perColumnKey(kv.key) {
					label, has = typeLabel(it, kv.key)
				}
				return p.u.describes(kv.key) && !kv.v.allows(label, has)
			}) {
				types[it.Name], zones[off.Zone] = true, true
			}
		}
	}
	if len(types) == 0 || all.impossible() {
		return ""
	}
	return fmt.Sprintf("no available offering: what would do (%s) is unavailable in %s", list(sortedKeys(types)), list(sortedKeys(zones)))
}

// own is what the pool itself asks of labels.
func (p *pool) own() term {
	var t term
	for i, key := range p.freeKeys {
		t = t.and(key, p.freeBase[i])
	}
	for _, k := range sortedKeys(p.spec.Labels) {
		t = t.and(requirementKey(k), oneOf(p.spec.Labels[k]))
	}
	for _, q := range p.spec.Requirements {
		t = t.and(requirementKey(q.Key), valuesOf(q.Operator, q.Values))
	}
	return t
}

// of is what a term asks of a label; false when nothing.
func (t term) of(key string) (values, bool) {
	for _, kv := range t {
		if kv.key == key {
			return kv.v, true
		}
	}
	return anyValue(), false
}

// unlabelled names the labels that the pool's nodes do not have as asked for.
func (r *reasoner) unlabelled(p *pool, t term) string {
	var unknown []string
	for _, kv := range t {
		own, defined := p.own().of(kv.key)
		switch {
		case p.u.describes(kv.key) || !defined && kv.v.absent:
		case kv.key == hostKey:
			return r.demand(kv) + ": a new node has a name of its own"
		case !defined:
			unknown = append(unknown, kv.key)
		case own.and(kv.v).empty() && kv.key == cluster.LabelNodePool:
			return r.demand(kv) + ", which is another" + hint(kv.v.list, own.list)
		case own.and(kv.v).empty():
			return r.demand(kv) + " against " + allowedText(kv.key, own) + hint(kv.v.list, own.list)
		}
	}
	known := slices.Concat(p.freeKeys, cluster.AWSLabels, []string{cluster.LabelZone, cluster.LabelRegion, cluster.LabelZoneID, cluster.LabelArch,
		cluster.LabelOS, cluster.LabelInstanceType, cluster.LabelCapacityType})
	return fmt.Sprintf("defines no label %s (add it to spec.template.metadata.labels or drop what asks for it)%s", list(unknown), hint(unknown, known))
}

// excluded names the requirements that leave no column, alone or together.
func (r *reasoner) excluded(p *pool, t term) string {
	asked := slices.DeleteFunc(slices.Clone(t), func(kv keyValues) bool { return !p.u.describes(kv.key) })
	parts := make([]string, len(asked))
	for i, kv := range asked {
		parts[i] = r.demand(kv)
		if p.base.intersects(p.u.allowed(kv.key, kv.v)) {
			continue
		}
		sold := p.u.index(kv.key).dict
		if own, said := p.own().of(kv.key); said && own.and(kv.v).empty() {
			return parts[i] + " against " + allowedText(kv.key, own) + hint(kv.v.list, slices.Concat(own.list, sold))
		}
		return fmt.Sprintf("%s, and its types have [%s]%s", parts[i], list(p.u.valuesIn(kv.key, p.base)), hint(kv.v.list, sold))
	}
	return "no type or offering meets together " + strings.Join(parts, ", ")
}

// demand says what is asked of a label, and by whom: the pod or its volumes.
func (r *reasoner) demand(kv keyValues) string {
	who, one := "requirement", *r.c.shape.rep
	for _, v := range r.c.shape.rep.Volumes {
		one.Volumes = []cluster.Volume{v}
		for _, t := range r.s.volumesOf(&one).terms {
			if _, asked := t.of(kv.key); asked {
				who = fmt.Sprintf("its volume %q requires", v.Claim)
			}
		}
	}
	return who + " " + kv.key + " " + allowedText(kv.key, kv.v)
}

func allowedText(key string, v values) string {
	var parts []string
	for _, q := range v.requirements(key) {
		text := string(q.Operator)
		if len(q.Values) > 0 {
			text += " [" + list(q.Values) + "]"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " and ")
}

// tooSmall says of which resources the types that suit have less than others.
func (r *reasoner) tooSmall(p *pool, cols bitset, types []int32) string {
	where := " in zones " + list(p.u.valuesIn(cluster.LabelZone, cols))
	var out []string
	single := false
	for d := 0; d < r.s.nd; d++ {
		var top peak
		for _, t := range types {
			top.raise(p.u.types[t].Name, p.room[t][d], p.room[t][d]+p.daemons[t][d])
		}
		if r.c.req[d] > 0 && r.c.req[d] > top.room {
			if single = true; !r.beyond[d] {
				out = append(out, r.lack(d, &top, "type of the pool that suits", where))
			}
		}
	}
	if !single {
		out = append(out, "no type of the pool that suits has all that it asks for together")
	}
	return strings.Join(out, "; ")
}
