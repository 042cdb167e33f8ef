package scheduling

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

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
		if (a.at < byRoom) != (b.at < byRoom) || a.weight == b.weight {
			return cmp.Compare(b.at, a.at)
		}
		return cmp.Compare(b.weight, a.weight)
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

// rules says which rules of topology leave the pod no new node. Those that tie it
// to pods which are elsewhere or nowhere are told whatever else is in the way.
func (r *reasoner) rules(open bool) []string {
	var out []string
	for _, x := range r.c.hard {
		g, total := r.s.groups[x.g], r.s.tallies[x.g].total
		switch {
		case g.kind != affinity || !x.own:
		case total == 0 && !x.match:
			out = append(out, r.ruleName(g, true)+": "+r.nowhere(x.g))
		case total > 0 && g.host():
			out = append(out, fmt.Sprintf("%s: there are %d, on nodes that have no place for it", r.ruleName(g, true), total))
		}
	}
	if open {
		for _, key := range r.s.keysOf(r.c) {
			out = append(out, r.domains(key)...)
		}
	}
	return out
}

// nowhere tells why there is no pod for an affinity.
func (r *reasoner) nowhere(id int32) string {
	if g := r.s.groups[id]; len(g.namespaces) == 0 && !g.allNS {
		return "no namespace matches its namespaceSelector"
	}
	waiting := 0
	for _, c := range r.s.classes {
		if slices.ContainsFunc(c.hard, func(x ref) bool { return x.g == id && x.match }) {
			waiting += len(c.pods)
		}
	}
	if waiting > 0 {
		return fmt.Sprintf("none runs, and the %d that wait find no place themselves", waiting)
	}
	return "there is none"
}

// domains says which rules of a key close which of the domains that can be had.
func (r *reasoner) domains(key string) []string {
	var names, left, out []string
	for _, ch := range r.s.domainChoices(key, &part{c: r.c, sig: r.c.shape.sig}) {
		names = append(names, ch.name)
		if r.s.domainAdmits(key, r.c, ch.name) {
			left = append(left, ch.name)
		}
	}
	for _, x := range r.c.hard {
		g, t := r.s.groups[x.g], &r.s.tallies[x.g]
		if g.key != key || g.kind == affinity && t.total == 0 {
			continue
		}
		shut := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return t.admits(g, x, t.domain(name)) })
		if len(shut) > 0 {
			out = append(out, r.ruleName(g, x.own)+": "+r.ruleWhy(x, shut, left))
		}
	}
	return out
}

// ruleWhy explains how a rule closes domains, and why those that are left do not help.
func (r *reasoner) ruleWhy(x ref, shut, left []string) string {
	g, t := r.s.groups[x.g], &r.s.tallies[x.g]
	switch g.kind {
	case spread:
		// The emptiest domain holds all the others back.
		counted := slices.DeleteFunc(t.ordered(), func(d int32) bool { return !t.counted[d] })
		if len(counted) == 0 || len(counted) < int(g.minDomains) {
			return fmt.Sprintf("only %d of the domains that it needs can be had, so that each may take %d at most", len(counted), g.maxSkew)
		}
		low := slices.MinFunc(counted, func(a, b int32) int { return cmp.Compare(t.count[a], t.count[b]) })
		return fmt.Sprintf("%s, the emptiest domain (it has %d), can take no pod because %s", t.names[low], t.count[low], r.because(g.key, t.names[low]))
	case affinity:
		at := slices.DeleteFunc(t.ordered(), func(d int32) bool { return t.count[d] == 0 })
		return fmt.Sprintf("%d of them are in %s, where it can go nowhere because %s", t.count[at[0]], t.names[at[0]], r.because(g.key, t.names[at[0]]))
	}
	text := map[bool]string{true: "there are some in ", false: "it keeps this one out of "}[x.own]
	for i, name := range shut {
		if n := t.count[t.domain(name)]; x.own && n > 0 {
			shut[i] = fmt.Sprintf("%s (%d)", name, n)
		}
	}
	if text += list(shut); len(left) > 0 {
		return text + fmt.Sprintf("; %s is free of them, but %s", left[0], r.because(g.key, left[0]))
	}
	return text + ", and no other domain can be had"
}

// because says why no pool opens a node for the pod in a domain.
func (r *reasoner) because(key, name string) string {
	pinned := r.s.sigs[r.s.pinned(r.c.shape.sig, key, oneOf(name))].terms
	best := miss{text: "no NodePool that suits may open nodes there"}
	for _, p := range r.s.pools {
		switch m := r.pool(p, pinned); {
		case m.at <= best.at || m.at < byRoom:
		case m.at == byNothing:
			best = miss{m.at, "its other rules leave no node there"}
		case m.text != "":
			best = miss{m.at, fmt.Sprintf("NodePool %q: %s", p.spec.Name, m.text)}
		}
	}
	return best.text
}

// ruleName writes a rule as people do: what it is, over which key, to which pods.
// own tells whether the pod itself declares it.
func (r *reasoner) ruleName(g *group, own bool) string {
	others := map[bool]string{false: " of other pods"}[own]
	if g.kind == spread {
		text := fmt.Sprintf("spread%s over %s (maxSkew %d", others, g.key, g.maxSkew)
		if g.minDomains > 0 {
			text += fmt.Sprintf(", minDomains %d", g.minDomains)
		}
		return text + ")"
	}
	var sel strings.Builder
	writeSelector(&sel, g.sel)
	which := cmp.Or(strings.ReplaceAll(strings.TrimSuffix(sel.String(), ";"), ";", ", "), "any labels")
	text := fmt.Sprintf("required %s%s over %s to pods with %s", kindNames[g.kind], others, g.key, which)
	switch {
	case g.allNS:
		return text + " in any namespace"
	case len(g.namespaces) > 0 && !slices.Equal(g.namespaces, []string{r.c.shape.rep.Namespace}):
		return text + " in namespace " + list(g.namespaces)
	}
	return text
}

var kindNames = [...]string{spread: "spread", affinity: "affinity", anti: "anti-affinity", port: "host ports"}

// standing sums up why no node that stands takes the pod, frequent causes first.
func (r *reasoner) standing() []string {
	if len(r.s.standing) == 0 {
		return nil
	}
	causes := map[string]int{}
	suits := make([]string, r.s.kinds)
	for _, n := range r.s.standing {
		causes[r.onNode(n, suits)]++
	}
	order := sortedKeys(causes)
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(causes[b], causes[a]) })
	for i, why := range order {
		order[i] = fmt.Sprintf("%d %s", causes[why], why)
	}
	return []string{fmt.Sprintf("standing nodes (%d): %s", len(r.s.standing), strings.Join(order, ", "))}
}

// onNode finds what keeps the pod off a node. suits remembers taints and labels, by kind.
func (r *reasoner) onNode(n *standingNode, suits []string) string {
	if n.closed {
		if slices.ContainsFunc(n.taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable }) {
			return "cordoned"
		}
		return "closed (cordoned, going away or not ready)"
	}
	const fine = "fine"
	if suits[n.kind] == "" || r.s.byName(r.sig.id) {
		suits[n.kind] = fine
		if hard, _ := r.sig.untolerated(n.taints); hard != nil {
			suits[n.kind] = "tainted (" + hard.ToString() + ")"
		} else if !r.sig.labelsAllow(n.name, n.labels) {
			suits[n.kind] = "outside of its node selector, affinity or volumes"
		}
	}
	if suits[n.kind] != fine {
		return suits[n.kind]
	}
	for d := 0; d < r.s.nd; d++ {
		if r.c.req[d] > max(0, n.free[d]) {
			return r.short[d]
		}
	}
	for i := range r.host {
		if r.s.hostCap(n.host, r.host[i:i+1]) < 1 {
			g := r.s.groups[r.host[i].g]
			if g.kind == port {
				return fmt.Sprintf("with host port %d/%s taken", g.hostPort.Port, g.hostPort.Protocol)
			}
			return "ruled out by " + kindNames[g.kind] + " over " + g.key
		}
	}
	for _, x := range r.c.hard {
		g, t := r.s.groups[x.g], &r.s.tallies[x.g]
		name, ok := n.labels[g.key]
		if !g.host() && (ok && !t.admits(g, x, t.domain(name)) || !ok && x.own && g.kind != anti) {
			return "ruled out by " + kindNames[g.kind] + " over " + g.key
		}
	}
	return "ruled out by several rules together"
}

// list writes names for a person, the last ones left out when they are many.
func list(names []string) string {
	if len(names) <= maxListed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed-1], ", "), len(names)-maxListed+1)
}

// quantity writes an amount exactly, with what it is of.
func (r *reasoner) quantity(d int, n int64) string {
	if d == dimCPU {
		return brief(cluster.CPU, n) + " cores"
	}
	return cluster.FormatAmount(r.names[d], n) + " " + r.names[d]
}

// brief writes an amount that there is: bytes are rounded down to a tenth of a Gi.
func brief(name string, n int64) string {
	switch {
	case name == cluster.CPU:
		return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64)
	case cluster.IsBytes(name) && n >= 1<<30:
		return strconv.FormatFloat(math.Floor(float64(n)/(1<<30)*10)/10, 'f', -1, 64) + "Gi"
	}
	return cluster.FormatAmount(name, n)
}

// hint guesses which known name was meant: one that differs in few letters, in no
// digit (m5, m6) and not in the last letter alone (us-east-1a, us-east-1b).
func hint(names, known []string) string {
	digits := func(s string) string {
		return strings.Join(strings.FieldsFunc(s, func(c rune) bool { return c < '0' || c > '9' }), "")
	}
	for _, name := range names {
		low := strings.ToLower(name)
		best, least := "", 1+max(1, min(3, len(name)/3))
		for _, k := range known {
			other := strings.ToLower(k)
			if digits(other) != digits(low) || other != low && len(other) == len(low) && other[:len(low)-1] == low[:len(low)-1] {
				continue
			}
			if n := edits(low, other); n < least || n == least && best != "" && k < best {
				best, least = k, n
			}
		}
		if best != "" && !slices.Contains(known, name) {
			return fmt.Sprintf("; did you mean %q?", best)
		}
	}
	return ""
}

// edits counts the letters to add, take out or replace to get from a to b.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			here := corner
			if a[i] != b[j] {
				here = 1 + min(corner, row[j], row[j+1])
			}
			corner, row[j+1] = row[j+1], here
		}
	}
	return row[len(b)]
}
