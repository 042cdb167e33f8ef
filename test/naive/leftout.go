package naive

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// sample is how many of the pods left out are looked at: the test of one is
// slow, and pods are left out by the class.
const sample = 200

// checkLeftOut asks of the pods left out whether one could be placed now, with
// the plan as it stands: on a node that stands or is planned, or on one more.
// It claims so only when the scheduler and the rules of the planner agree.
func (c *checker) checkLeftOut() {
	for i, l := range c.report.Unschedulable {
		p := c.pods[l.Pod]
		if i >= sample {
			return
		}
		if c.hopeless(p) || c.placed[l.Pod] != "" {
			continue
		}
		if where := c.roomFor(p); where != "" {
			c.say("pod %s is left out and could be placed: %s", p.Key(), where)
		}
	}
}

// hopeless tells whether a pod is left out for reasons that no node can mend.
func (c *checker) hopeless(p *cluster.Pod) bool {
	return p == nil || !c.waits(p) || len(p.Problems) > 0 || len(p.Devices) > 0 || optsOut(p) || restricted(p)
}

// restricted tells whether a pod selects nodes in a way that is refused: by
// host name or by field.
func restricted(p *cluster.Pod) bool {
	if slices.Contains(selectedKeys(p), cluster.LabelHostname) {
		return true
	}
	if p.Affinity == nil || p.Affinity.NodeAffinity == nil || p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	return slices.ContainsFunc(p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms,
		func(t corev1.NodeSelectorTerm) bool { return len(t.MatchFields) > 0 })
}

// roomFor finds a place for one more pod, "" when there is none.
func (c *checker) roomFor(p *cluster.Pod) string {
	domains := c.domainsFor(p)
	for _, n := range c.world.nodes {
		if !n.closed && c.admits(c.world, p, n, domains) && c.staysDiverse(p, n, domains) {
			return "on " + n.title
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.pools)) {
		if where := c.freshFor(p, c.pools[name], domains); where != "" {
			return where
		}
	}
	return ""
}

// staysDiverse tells whether enough of what a new node may be would admit one more
// pod for its pool's minValues, its domain being known.
func (c *checker) staysDiverse(p *cluster.Pod, n *node, domains map[string][]string) bool {
	if n.plan == nil || len(n.options) == 0 {
		return true
	}
	pool := c.pools[n.plan.NodePool]
	keys := c.ruleKeys(p)
	seen := map[string]map[string]map[string]bool{}
	enough := false
	for _, o := range n.options {
		c.become(n, pool, o)
		c.addDaemons(n, pool, o)
		if c.admits(c.world, p, n, domains) {
			d := domainOf(n, keys)
			if seen[d] == nil {
				seen[d] = map[string]map[string]bool{}
			}
			note(seen[d], pool, n.labels)
			enough = enough || len(diversity(pool, seen[d])) == 0
		}
	}
	c.become(n, pool, n.options[0])
	return enough
}

// domainOf names the values that a node has for some labels.
func domainOf(n *node, keys []string) string {
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(n.labels[k] + "|")
	}
	return b.String()
}

// addDaemons adds to a new node the daemons that nodes of its type run in other
// zones or as other capacity types: the overhead of daemons is known by type.
func (c *checker) addDaemons(n *node, pool *cluster.NodePool, o option) {
	for i := range o.typ.Offerings {
		if f := &o.typ.Offerings[i]; !c.offered(pool, f) {
			continue
		}
		m := &node{name: n.name}
		c.become(m, pool, option{o.typ, &o.typ.Offerings[i]})
		for _, d := range m.pods {
			if !slices.ContainsFunc(n.pods, func(q *cluster.Pod) bool { return q.Key() == d.Key() }) {
				n.pods = append(n.pods, d)
			}
		}
	}
}

// admits asks the scheduler's filters, and besides the spread over all domains
// that could be made, which is the planner's own, stricter rule.
func (c *checker) admits(w *world, p *cluster.Pod, n *node, domains map[string][]string) bool {
	if len(c.refusals(p, n)) > 0 || len(c.topologyRefusals(w, p, n)) > 0 || len(c.zoneRefusals(w, p, n)) > 0 {
		return false
	}
	r := c.rulesOf(p)
	for _, s := range r.spread {
		if spreadRefusal(w, p, n, s, r.spread, domains[s.key]) != "" {
			return false
		}
	}
	return c.leavesInBalance(w, p, n)
}

// leavesInBalance tells whether the planned pods whose spread counts p, or whose
// domains its node adds to, would still be admitted with p on the node: a plan
// keeps a rule when each of its pods could be bound last.
func (c *checker) leavesInBalance(w *world, p *cluster.Pod, n *node) bool {
	before := n.pods
	n.pods = append(slices.Clone(before), p)
	defer func() { n.pods = before }()
	for _, m := range w.nodes {
		for _, q := range c.planned(m) {
			r := c.rulesOf(q)
			for _, s := range r.spread {
				if q == p || q.Namespace != p.Namespace || s.broken || !s.selector.Matches(labels.Set(p.Labels)) {
					if q != p && spreadRefusal(w, q, m, s, r.spread, nil) != "" {
						return false
					}
					continue
				}
				if spreadRefusal(w, q, m, s, r.spread, c.domainsFor(q)[s.key]) != "" {
					return false
				}
			}
		}
	}
	return true
}

// domainsFor lists the domains of each of a pod's spread keys in which some
// NodePool could make a node that counts for the pod.
func (c *checker) domainsFor(p *cluster.Pod) map[string][]string {
	if out, ok := c.domains[p]; ok {
		return out
	}
	out := map[string][]string{}
	c.domains[p] = out
	spreads := c.rulesOf(p).spread
	if len(spreads) == 0 {
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(c.pools)) {
		c.fresh(p, c.pools[name], func(n *node, _ option) bool {
			for _, s := range spreads {
				if v, ok := label(n.labels, s.key); ok && (!s.affinityHonored || selects(p, n.labels)) && !slices.Contains(out[s.key], v) {
					out[s.key] = append(out[s.key], v)
				}
			}
			return true
		})
	}
	return out
}

// freshFor finds a node that the pool could make for the pod within its limits
// and with the choice that its minValues ask for. What the choice is between has
// one value for each label that a topology rule of the pod, or one that counts it,
// looks at: a node in an unknown domain could not be counted for the next pod.
func (c *checker) freshFor(p *cluster.Pod, pool *cluster.NodePool, domains map[string][]string) string {
	used, planned := c.inUse(pool.Name), c.plannedFor(pool.Name)
	taken, _ := c.reservations()
	seen := map[string]map[string]map[string]bool{} // by domain
	keys := c.ruleKeys(p)
	diverse := slices.ContainsFunc(pool.Requirements, func(r cluster.Requirement) bool { return r.MinValues > 1 })
	var best *option
	where := ""
	c.fresh(p, pool, func(n *node, o option) bool {
		if o.off.CapacityType == cluster.Reserved && (diverse || taken[o.off.ReservationID] >= o.off.ReservationCount) {
			return true // a node of a reservation is one type, which is no choice
		}
		capacity := o.typ.Capacity.With(cluster.Nodes, 1)
		for _, l := range pool.Limits {
			if a := capacity.Get(l.Name); a > 0 && used[l.Name]+planned[l.Name]+a > l.Amount {
				return true
			}
		}
		c.addDaemons(n, pool, o)
		w := &world{nodes: append(slices.Clone(c.world.nodes), n)}
		if !c.admits(w, p, n, domains) {
			return true
		}
		d := domainOf(n, keys)
		if seen[d] == nil {
			seen[d] = map[string]map[string]bool{}
		}
		note(seen[d], pool, n.labels)
		best, where = &o, d
		return len(diversity(pool, seen[where])) > 0
	})
	if best == nil || len(diversity(pool, seen[where])) > 0 {
		return ""
	}
	return fmt.Sprintf("on a new node of NodePool %s, %s", pool.Name, best)
}

// ruleKeys are the labels that the topology rules of a pod, and those of others
// that count it, look at; the node's name aside.
func (c *checker) ruleKeys(p *cluster.Pod) []string {
	keys := map[string]bool{}
	for i := range c.snap.Pods {
		q := &c.snap.Pods[i]
		r := c.rulesOf(q)
		for _, s := range r.spread {
			if q == p || q.Namespace == p.Namespace && !s.broken && s.selector.Matches(labels.Set(p.Labels)) {
				keys[s.key] = true
				for _, k := range selectedKeys(q) { // whether the node counts at all
					keys[k] = true
				}
			}
		}
		for _, t := range append(slices.Clone(r.affinity), r.anti...) {
			if q == p || c.matches(t, p) {
				keys[t.key] = true
			}
		}
	}
	if len(p.Volumes) > 0 {
		keys[cluster.LabelZone] = true
	}
	delete(keys, cluster.LabelHostname)
	return sortedKeys(keys)
}

// fresh shows f each node that a pool could make, with each set of values of
// its custom labels, until f returns false.
func (c *checker) fresh(p *cluster.Pod, pool *cluster.NodePool, f func(*node, option) bool) {
	class := c.classes[pool.NodeClass.Name]
	if pool.Deleting || pool.Replicas != nil || class == nil {
		return
	}
	customs := c.customLabels(p, pool)
	types := c.typesOf(pool.Name)
	for i := range types {
		t := &types[i]
		if len(class.AMIArchs) > 0 && !slices.Contains(class.AMIArchs, t.Arch) {
			continue
		}
		for j := range t.Offerings {
			o := option{t, &t.Offerings[j]}
			if !c.offered(pool, o.off) {
				continue
			}
			for _, own := range customs {
				n := &node{name: "one-more", title: "one more node"}
				c.become(n, pool, o)
				for k, v := range own {
					n.labels[k] = v
				}
				wrong := func(r cluster.Requirement) bool { return !c.meets(n.labels, pool, r) }
				if !slices.ContainsFunc(pool.Requirements, wrong) && !f(n, o) {
					return
				}
			}
		}
	}
}

// customLabels lists the sets of values that a pool's custom labels can take,
// as far as they can matter to the pod.
func (c *checker) customLabels(p *cluster.Pod, pool *cluster.NodePool) []map[string]string {
	out := []map[string]string{{}}
	for _, key := range c.custom(pool) {
		values := mentioned(p, key)
		for _, r := range pool.Requirements {
			if r.Key == key {
				values = append(values, r.Values...)
				if r.Operator != cluster.In {
					values = append(values, "any") // what the launch gives a label that only has to be
				}
			}
		}
		slices.Sort(values)
		values = slices.DeleteFunc(slices.Compact(values), func(v string) bool {
			return !allHold(slices.DeleteFunc(slices.Clone(pool.Requirements), func(r cluster.Requirement) bool { return r.Key != key }), map[string]string{key: v})
		})
		var next []map[string]string
		for _, m := range out {
			next = append(next, m)
			for _, v := range values {
				n := maps.Clone(m)
				n[key] = v
				next = append(next, n)
			}
		}
		out = next
	}
	slices.SortStableFunc(out, func(a, b map[string]string) int { return cmp.Compare(len(a), len(b)) })
	return out
}

// mentioned lists the values that a pod asks for under a key.
func mentioned(p *cluster.Pod, key string) []string {
	var out []string
	if v, ok := p.NodeSelector[key]; ok {
		out = append(out, v)
	}
	if p.Affinity != nil && p.Affinity.NodeAffinity != nil && p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, t := range p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, e := range t.MatchExpressions {
				if e.Key == key {
					out = append(out, e.Values...)
				}
			}
		}
	}
	return out
}
