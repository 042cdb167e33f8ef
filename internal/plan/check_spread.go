package plan

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// spreadRule is a hard topology spread constraint, with the pods that declare it.
type spreadRule struct {
	*frame
	maxSkew    int
	minDomains int
	matcher    int32
	owners     []int32 // placed pods
}

// readSpread adds a placed pod to the rule that one of its constraints is.
func (t *topology) readSpread(p *cluster.Pod, id int32, s *corev1.TopologySpreadConstraint) {
	r := spreadRule{maxSkew: int(s.MaxSkew), minDomains: 1, matcher: t.matcherOfSpread(p, s)}
	if s.MinDomains != nil {
		r.minDomains = int(*s.MinDomains)
	}
	r.frame = t.frameOf(p, s)
	b := t.buf[:0]
	for _, n := range [4]int{int(r.frame.id), r.maxSkew, r.minDomains, int(r.matcher)} {
		b = append(strconv.AppendInt(b, int64(n), 10), ' ')
	}
	t.buf = b
	at, ok := t.spreadIDs[string(b)]
	if !ok {
		at = int32(len(t.spreads))
		t.spreadIDs[string(b)] = at
		t.spreads = append(t.spreads, &r)
	}
	t.spreads[at].owners = append(t.spreads[at].owners, id)
}

// tally is what a spread rule counts.
type tally struct {
	counted []*domains // where nodes count, by kind
	weight  map[int32]int
	fixed   map[int32]int // pods by domain, on nodes that can be nowhere else
	exists  map[int32]bool
	loose   []looseSite
}

// looseSite is a node that may be in several domains, with the pods on it that
// the rule counts. One that has none stands for all of its kind that have none.
type looseSite struct {
	where  *domains
	weight int
	site   int32
	more   bool // there are others like it
}

// checkSpread holds each placed pod of a rule against it: what is in its domain,
// itself included, may not pass the emptiest domain by more than maxSkew.
func (t *topology) checkSpread(r *spreadRule) {
	counts, ok := t.count(r)
	if !ok {
		return
	}
	byDomain := map[int32][]int32{}
	var order []int32
	for _, id := range r.owners {
		p := &t.pods[id]
		where := t.at(r.key, p.site)
		if where.nowhere {
			t.fault(RuleSpread, p, "its node has no label "+t.keys[r.key]+" to spread over")
			continue
		}
		// Off the nodes that count, a rule on nodes is broken, which is said there.
		for _, d := range counts.counted[t.kindOf[p.site]].values {
			if r.key == hostKey {
				d = p.site
			}
			if byDomain[d] == nil {
				order = append(order, d)
			}
			byDomain[d] = append(byDomain[d], id)
		}
	}
	if r.key == hostKey {
		t.checkHostSpread(r, counts, byDomain, order)
		return
	}
	for _, d := range order {
		t.checkDomain(r, counts, d, byDomain[d])
	}
}

func (t *topology) fault(rule Rule, p *stagedPod, detail string) {
	t.c.faults.say(rule, t.c.sites[p.site].name, p.pod.Key(), "%s", detail)
}

// count finds where nodes count for a rule and how many pods are there; ok is
// false where the number depends on what is launched otherwise than by domain.
func (t *topology) count(r *spreadRule) (*tally, bool) {
	m := t.matchers[r.matcher]
	c := &tally{counted: make([]*domains, len(t.kinds)), weight: map[int32]int{}, fixed: map[int32]int{}, exists: map[int32]bool{}}
	for k := range t.kinds {
		c.counted[k] = t.counted(r.frame, int32(k))
		if ch := t.kinds[k].choice; ch != nil && len(m.daemons) > 0 && t.perhapsRuns(ch, m.daemons) {
			return nil, false
		}
	}
	for _, h := range m.hits {
		if p := &t.pods[h]; !p.pod.Deleting && len(c.counted[t.kindOf[p.site]].values) > 0 {
			c.weight[p.site]++
		}
	}
	if r.key == hostKey {
		return c, true
	}
	occupied := make([]int32, len(t.kinds)) // sites of a kind with pods
	for _, site := range sortedKeys(c.weight) {
		k := t.kindOf[site]
		occupied[k]++
		if d, ok := c.counted[k].certain(); ok {
			c.fixed[d] += c.weight[site]
		} else {
			c.loose = append(c.loose, looseSite{c.counted[k], c.weight[site], site, false})
		}
	}
	for k := range t.kinds {
		if d, ok := c.counted[k].certain(); ok {
			c.exists[d] = true
		} else if empty := t.kinds[k].count - occupied[k]; empty > 0 && len(c.counted[k].values) > 0 {
			c.loose = append(c.loose, looseSite{c.counted[k], 0, t.emptySite(int32(k), c.weight), empty > 1})
		}
	}
	return c, true
}

// emptySite is a site of a kind on which a rule counts no pods.
func (t *topology) emptySite(kind int32, weight map[int32]int) int32 {
	for k := t.kinds[kind].first; int(k) < len(t.kindOf); k++ {
		if t.kindOf[k] == kind && weight[k] == 0 {
			return k
		}
	}
	return -1
}

// checkDomain looks for a way to launch the new nodes such that a pod of the rule
// in domain d would not be admitted: with every node in d that may be there, some
// other domain is emptier by more than maxSkew.
func (t *topology) checkDomain(r *spreadRule, c *tally, d int32, owners []int32) {
	mine := c.fixed[d]
	for i := range c.loose {
		if c.loose[i].where.has(d) {
			mine += c.loose[i].weight
		}
	}
	if mine <= r.maxSkew {
		return
	}
	if c.fewest(d) < r.minDomains {
		t.sayDomain(r, owners[0], mine, d, 0, "too few domains for minDomains "+strconv.Itoa(r.minDomains))
		return
	}
	for _, e := range sortedKeys(c.exists) {
		if n := c.fixed[e]; e != d && mine-n > r.maxSkew {
			t.sayDomain(r, owners[0], mine, d, n, t.domainName(r.key, e))
			return
		}
	}
	for i := range c.loose {
		l := &c.loose[i]
		from := 0 // what the domain loses of l
		if l.where.has(d) {
			from = l.weight
		}
		owner := t.ownerBeside(owners, l)
		if owner < 0 || mine-from-l.weight <= r.maxSkew {
			continue
		}
		for _, e := range l.where.values {
			if e != d && !c.exists[e] {
				t.sayDomain(r, owner, mine-from, d, l.weight, t.domainName(r.key, e))
				return
			}
		}
	}
}

// ownerBeside finds a pod of the rule that is not on a loose site, -1 when all are.
func (t *topology) ownerBeside(owners []int32, l *looseSite) int32 {
	for _, id := range owners {
		if l.more || t.pods[id].site != l.site {
			return id
		}
	}
	return -1
}

func (t *topology) sayDomain(r *spreadRule, owner int32, mine int, d int32, least int, where string) {
	t.fault(RuleSpread, &t.pods[owner], "over "+t.keys[r.key]+": "+strconv.Itoa(mine)+" pods may be in "+t.domainName(r.key, d)+" with "+
		strconv.Itoa(least)+" in the emptiest ("+where+"), maxSkew "+strconv.Itoa(r.maxSkew))
}

// fewest is a number of domains that there may be with every node in d that may
// be there; nodes that may not are put where something is already.
func (c *tally) fewest(d int32) int {
	there := map[int32]bool{d: true}
	for e := range c.exists {
		there[e] = true
	}
	for i := range c.loose {
		w := c.loose[i].where
		if !w.nowhere && !slices.ContainsFunc(w.values, func(v int32) bool { return there[v] }) {
			there[w.values[0]] = true
		}
	}
	return len(there)
}

// checkHostSpread is checkDomain where every node is a domain of its own.
func (t *topology) checkHostSpread(r *spreadRule, c *tally, bySite map[int32][]int32, order []int32) {
	counted, least := int32(0), -1
	for k := range t.kinds {
		if len(c.counted[k].values) > 0 {
			counted += t.kinds[k].count
		}
	}
	for _, n := range c.weight {
		if least < 0 || n < least {
			least = n
		}
	}
	if int(counted) > len(c.weight) || int(counted) < r.minDomains {
		least = 0
	}
	for _, site := range order {
		if n := c.weight[site]; n-least > r.maxSkew {
			t.fault(RuleSpread, &t.pods[bySite[site][0]], strconv.Itoa(n)+" pods on its node with "+strconv.Itoa(least)+" on the emptiest, maxSkew "+strconv.Itoa(r.maxSkew))
		}
	}
}

// sortedKeys orders what a map has.
func sortedKeys[K ~int32, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
