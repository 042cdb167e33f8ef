package plan

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// apartRule is a term of required pod anti-affinity: no pod that it matches may
// be in the domain of one that declares it.
type apartRule struct {
	apartKey
	owners []int32 // placed and running pods
}

type apartKey struct{ matcher, key int32 }

// readApart adds a pod to the rules that its anti-affinity is.
func (t *topology) readApart(p *cluster.Pod, id int32) {
	terms := requiredApart(p)
	for i := range terms {
		k := apartKey{t.matcherOfTerm(p, &terms[i]), t.key(terms[i].TopologyKey)}
		at, ok := t.apartIDs[k]
		if !ok {
			at = int32(len(t.apart))
			t.apartIDs[k] = at
			t.apart = append(t.apart, &apartRule{apartKey: k})
		}
		t.apart[at].owners = append(t.apart[at].owners, id)
	}
}

// meeting is the pods of a rule that may be in one domain: the first two of each
// part, which are enough to find two that may not meet.
type meeting struct{ owners, matched, ownersHere, matchedHere []int32 }

func keepTwo(list []int32, id int32) []int32 {
	if len(list) < 2 && !slices.Contains(list, id) {
		list = append(list, id)
	}
	return list
}

// checkApart looks for a domain in which a pod may meet one that it may not,
// unless both are there already.
func (t *topology) checkApart(r *apartRule) {
	meetings := map[int32]*meeting{}
	var order []int32
	for _, id := range r.owners {
		p := &t.pods[id]
		at := t.at(r.key, p.site)
		for _, d := range at.values {
			m := meetings[d]
			if m == nil {
				m = &meeting{}
				meetings[d] = m
				order = append(order, d)
			}
			if p.planned {
				m.owners = keepTwo(m.owners, id)
			} else {
				m.ownersHere = keepTwo(m.ownersHere, id)
			}
		}
	}
	for _, id := range t.matchers[r.matcher].hits {
		p := &t.pods[id]
		at := t.at(r.key, p.site)
		for _, d := range at.values {
			if m := meetings[d]; m == nil {
				continue
			} else if p.planned {
				m.matched = keepTwo(m.matched, id)
			} else {
				m.matchedHere = keepTwo(m.matchedHere, id)
			}
		}
	}
	for _, d := range order {
		m := meetings[d]
		if a, b, ok := pair(m.owners, m.matched); ok {
			t.sayApart(r, a, b, d)
		} else if a, b, ok := pair(m.owners, m.matchedHere); ok {
			t.sayApart(r, a, b, d)
		} else if a, b, ok := pair(m.ownersHere, m.matched); ok {
			t.fault(RuleAntiAffinity, &t.pods[b], "pod "+t.pods[a].pod.Key()+" is to keep apart from it over "+t.keys[r.key]+" and may be in "+t.domainName(r.key, d)+" too")
		}
	}
}

// pair finds two different pods.
func pair(as, bs []int32) (a, b int32, ok bool) {
	for _, a := range as {
		for _, b := range bs {
			if a != b {
				return a, b, true
			}
		}
	}
	return 0, 0, false
}

func (t *topology) sayApart(r *apartRule, a, b, d int32) {
	t.fault(RuleAntiAffinity, &t.pods[a], "is to keep apart over "+t.keys[r.key]+" from pod "+t.pods[b].pod.Key()+", which may be in "+t.domainName(r.key, d)+" too")
}

// togetherRule is the required pod affinity of a pod, all its terms: in its
// domain of each key another pod must be that matches all of them, or there is
// none anywhere and the pod matches them itself.
type togetherRule struct {
	terms   []apartKey
	owners  []int32
	company []int32 // pods that match all terms, ascending
}

// readTogether adds a placed pod to the rule that its affinity is.
func (t *topology) readTogether(p *cluster.Pod, id int32, terms []corev1.PodAffinityTerm) {
	var r togetherRule
	for i := range terms {
		r.terms = append(r.terms, apartKey{t.matcherOfTerm(p, &terms[i]), t.key(terms[i].TopologyKey)})
	}
	b := t.buf[:0]
	for _, x := range r.terms {
		b = append(strconv.AppendInt(b, int64(x.matcher), 10), ' ')
		b = append(strconv.AppendInt(b, int64(x.key), 10), ',')
	}
	t.buf = b
	at, ok := t.groupIDs[string(b)]
	if !ok {
		at = int32(len(t.together))
		t.groupIDs[string(b)] = at
		t.together = append(t.together, &r)
	}
	t.together[at].owners = append(t.together[at].owners, id)
}

// findCompany finds the pods that match all terms of a rule.
func (t *topology) findCompany(r *togetherRule) {
	first := t.matchers[r.terms[0].matcher]
	if len(r.terms) == 1 {
		r.company = first.hits
		return
	}
	for _, id := range first.hits {
		p := t.pods[id].pod
		if !slices.ContainsFunc(r.terms[1:], func(x apartKey) bool { return !t.matches(t.matchers[x.matcher], p.Namespace, p.Labels) }) {
			r.company = append(r.company, id)
		}
	}
}

// accompanies tells whether a pod matches all terms of a rule.
func (r *togetherRule) accompanies(id int32) bool {
	_, found := slices.BinarySearch(r.company, id)
	return found
}

// checkTogether checks required pod affinity: first with all pods where they are,
// then whether they can get there.
func (t *topology) checkTogether() {
	fine := true
	for _, r := range t.together {
		t.findCompany(r)
		fine = t.checkCompany(r) && fine
	}
	if fine && len(t.together) > 0 {
		t.checkOrder()
	}
}

// checkCompany asks that each owner has company whatever is launched: on its own
// node, or on one that can be in no other domain.
func (t *topology) checkCompany(r *togetherRule) bool {
	onSite := map[int32]int{}
	sure := make([]map[int32]int, len(r.terms)) // by term and domain: pods that are there for certain
	anywhere := 0
	for i := range sure {
		sure[i] = map[int32]int{}
	}
	for _, id := range r.company {
		site := t.pods[id].site
		onSite[site]++
		labelled := false
		for i, x := range r.terms {
			at := t.at(x.key, site)
			labelled = labelled || len(at.values) > 0
			if d, ok := at.certain(); ok {
				sure[i][d]++
			}
		}
		if labelled {
			anywhere++
		}
	}
	fine := true
	for _, id := range r.owners {
		p := &t.pods[id]
		self := 0
		if r.accompanies(id) {
			self = 1
		}
		if why := t.lonely(r, p.site, self, onSite, sure); why != "" && (self == 0 || anywhere > self || why == noLabel) {
			t.fault(RuleAffinity, p, why)
			fine = false
		}
	}
	return fine
}

const noLabel = "its node may lack the label that its pod affinity is over"

// lonely says why an owner on a site may be without company, "" when it cannot.
func (t *topology) lonely(r *togetherRule, site int32, self int, onSite map[int32]int, sure []map[int32]int) string {
	for i, x := range r.terms {
		at := t.at(x.key, site)
		if at.nowhere {
			return noLabel
		}
		if onSite[site] > self {
			continue
		}
		_, certain := at.certain()
		for _, d := range at.values {
			n := sure[i][d]
			if certain {
				n -= self
			}
			if n < 1 {
				return "no pod that its affinity over " + t.keys[x.key] + " asks for is in " + t.domainName(x.key, d) + " for certain"
			}
		}
	}
	return ""
}

// checkOrder binds the placed pods in an order that suits them, every launch
// taking the report's choice, and says which could never be bound: they wait for
// each other.
func (t *topology) checkOrder() {
	b := t.newBinder()
	owner := map[int32]*togetherRule{}
	var waiting []int32
	for _, r := range t.together {
		for _, id := range r.owners {
			owner[id] = r
			waiting = append(waiting, id)
		}
	}
	for id := t.planned; id < len(t.pods); id++ {
		b.bind(int32(id))
	}
	// The first of each group before anybody else makes it too late: one whose
	// domain nobody else will open.
	for _, r := range t.together {
		if b.total[r] == 0 {
			if id := t.opener(r, owner); id >= 0 {
				b.bind(id)
				delete(owner, id)
			}
		}
	}
	for id := range t.planned {
		if _, waits := owner[int32(id)]; !waits && !b.bound[id] {
			b.bind(int32(id))
		}
	}
	for progress := true; progress; {
		progress = false
		for _, id := range waiting {
			if r := owner[id]; r != nil && b.admits(r, id) {
				b.bind(id)
				delete(owner, id)
				progress = true
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(owner)) {
		t.fault(RuleOrder, &t.pods[id], "what its affinity asks for comes after it in any order")
	}
}

// opener picks the pod that makes the start of a group: one that matches its own
// rule, best where no pod without affinity will give it company; -1 when there is
// none.
func (t *topology) opener(r *togetherRule, owner map[int32]*togetherRule) int32 {
	key := r.terms[0].key
	others := map[int32]bool{} // domains that pods without affinity come to
	for _, id := range r.company {
		if owner[id] == nil {
			others[t.chosen(key, t.pods[id].site)] = true
		}
	}
	best := int32(-1)
	for _, id := range r.owners {
		if owner[id] == nil || !r.accompanies(id) {
			continue
		}
		if !others[t.chosen(key, t.pods[id].site)] {
			return id
		}
		if best < 0 {
			best = id
		}
	}
	return best
}

// binder is the scheduler binding pods one after the other.
type binder struct {
	t       *topology
	bound   []bool
	total   map[*togetherRule]int
	inTerm  map[boundIn]int
	rulesOf map[int32][]*togetherRule // that a pod is company for
}

type boundIn struct {
	r    *togetherRule
	term int
	d    int32
}

func (t *topology) newBinder() *binder {
	b := &binder{t: t, bound: make([]bool, len(t.pods)), total: map[*togetherRule]int{}, inTerm: map[boundIn]int{}, rulesOf: map[int32][]*togetherRule{}}
	for _, r := range t.together {
		for _, id := range r.company {
			b.rulesOf[id] = append(b.rulesOf[id], r)
		}
	}
	return b
}

func (b *binder) bind(id int32) {
	b.bound[id] = true
	for _, r := range b.rulesOf[id] {
		seen := false
		for i, x := range r.terms {
			if d := b.t.chosen(x.key, b.t.pods[id].site); d >= 0 {
				b.inTerm[boundIn{r, i, d}]++
				seen = true
			}
		}
		if seen {
			b.total[r]++
		}
	}
}

// admits tells whether a pod has company by now, or starts its group.
func (b *binder) admits(r *togetherRule, id int32) bool {
	for i, x := range r.terms {
		d := b.t.chosen(x.key, b.t.pods[id].site)
		if d < 0 || b.inTerm[boundIn{r, i, d}] == 0 {
			return b.total[r] == 0 && r.accompanies(id)
		}
	}
	return true
}
