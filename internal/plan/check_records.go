package plan

import (
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// checkRecords holds the writes and the preconditions against the report, and
// the report against its summary.
func (c *checker) checkRecords() {
	p := c.in.Proposal
	needs := make(map[Key]uint64, len(p.Needs))
	for i := range p.Needs {
		n := &p.Needs[i]
		if gen, twice := needs[n.Key]; twice && gen != n.Gen {
			c.faults.say(RuleRecords, "", "", "%s is needed at generations %d and %d", n.Key, gen, n.Gen)
		}
		needs[n.Key] = n.Gen
	}
	c.written = make(map[string]*cluster.NodeClaim, len(p.Writes))
	keys := make(map[Key]bool, len(p.Writes))
	for i := range p.Writes {
		w := &p.Writes[i]
		if keys[w.Key] {
			c.faults.say(RuleRecords, w.Claim.Name, "", "%s is written twice", w.Key)
		}
		keys[w.Key] = true
		if gen, ok := needs[w.Key]; !ok {
			c.faults.say(RuleRecords, w.Claim.Name, "", "the write of %s has no precondition", w.Key)
		} else if gen != 0 {
			c.faults.say(RuleRecords, w.Claim.Name, "", "the write of %s needs generation %d, a new claim must not exist", w.Key, gen)
		}
		if c.written[w.Claim.Name] != nil {
			c.faults.say(RuleRecords, w.Claim.Name, "", "two claims have the name")
		}
		c.written[w.Claim.Name] = &w.Claim
	}
	for i := range c.report.NewNodes {
		n := &c.report.NewNodes[i]
		if m := c.written[n.Name]; m == nil {
			c.faults.say(RuleRecords, n.Name, "", "no claim is written for it")
		} else {
			c.checkClaim(n, m)
		}
	}
	for i := range p.Writes {
		name := p.Writes[i].Claim.Name
		if k, ok := c.siteOf[name]; !ok || c.sites[k].plan == nil {
			c.faults.say(RuleRecords, name, "", "a claim is written that no new node of the report is for")
		}
	}
	c.checkSummary()
}

// checkClaim holds a claim against the node that it is for and against the
// template of its NodePool.
func (c *checker) checkClaim(n *NewNode, m *cluster.NodeClaim) {
	differ := func(what string) {
		c.faults.say(RuleRecords, n.Name, "", "the %s of its claim are not those of the report", what)
	}
	if m.NodePool != n.NodePool || m.NodeClass != n.NodeClass {
		c.faults.say(RuleRecords, n.Name, "", "its claim is of NodePool %q and class %q, the report says %q and %q", m.NodePool, m.NodeClass.Name, n.NodePool, n.NodeClass.Name)
	}
	if !sameRequirements(m.Requirements, n.Requirements) {
		differ("requirements")
	}
	if !maps.Equal(m.Labels, n.Labels) {
		differ("labels")
	}
	if !slices.Equal(m.Requests, n.Requests) {
		differ("requests")
	}
	if !slices.Equal(m.Allocatable, n.Allocatable) {
		differ("allocatable resources")
	}
	p := c.pools[n.NodePool]
	if p == nil {
		return // said where the choices are looked at
	}
	if !sameTaints(m.Taints, p.Taints) || !sameTaints(m.StartupTaints, p.StartupTaints) {
		c.faults.say(RuleRecords, n.Name, "", "the taints of its claim are not those of NodePool %s", p.Name)
	}
	if m.ExpireAfter != p.ExpireAfter || !sameDuration(m.TerminationGracePeriod, p.TerminationGracePeriod) {
		c.faults.say(RuleRecords, n.Name, "", "the life time of its claim is not that of NodePool %s", p.Name)
	}
	if p.NodeClass != n.NodeClass {
		c.faults.say(RuleRecords, n.Name, "", "its node class is %q, that of NodePool %s is %q", n.NodeClass.Name, p.Name, p.NodeClass.Name)
	}
	c.checkRequirements(n)
}

// checkRequirements asks that the requirements, which are what the launch goes
// by, allow no more than the report says.
func (c *checker) checkRequirements(n *NewNode) {
	lists := [...]struct {
		key  string
		list []string
		seen bool
	}{{key: cluster.LabelInstanceType, list: n.InstanceTypes}, {key: cluster.LabelZone, list: n.Zones}, {key: cluster.LabelCapacityType, list: n.CapacityTypes}}
	for i := range n.Requirements {
		r := &n.Requirements[i]
		for k := range lists {
			if l := &lists[k]; r.Key == l.key && r.Operator == cluster.In {
				l.seen = l.seen || within(r.Values, l.list)
			}
		}
		if v, ok := n.Labels[r.Key]; ok && !satisfies(v, true, string(r.Operator), r.Values) {
			c.faults.say(RuleRecords, n.Name, "", "its label %s=%s does not meet its requirement %s", r.Key, v, r.Operator)
		}
	}
	for _, l := range lists {
		if !l.seen {
			c.faults.say(RuleRecords, n.Name, "", "no requirement keeps %s within what the report lists", l.key)
		}
	}
}

// within tells whether all of some values are listed.
func within(values, list []string) bool {
	if sameSlice(values, list) {
		return true
	}
	return !slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(list, v) })
}

// sameSlice tells whether two slices are one in memory.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func sameRequirements(a, b []cluster.Requirement) bool {
	return sameSlice(a, b) || slices.EqualFunc(a, b, func(x, y cluster.Requirement) bool {
		return x.Key == y.Key && x.Operator == y.Operator && x.MinValues == y.MinValues && (sameSlice(x.Values, y.Values) || slices.Equal(x.Values, y.Values))
	})
}

func sameTaints(a, b []corev1.Taint) bool {
	return sameSlice(a, b) || slices.EqualFunc(a, b, func(x, y corev1.Taint) bool {
		return x.Key == y.Key && x.Value == y.Value && x.Effect == y.Effect
	})
}

func sameDuration[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// checkSummary adds up what the report adds up.
func (c *checker) checkSummary() {
	s := &c.report.Summary
	price, placed := 0.0, 0
	for i := range c.report.NewNodes {
		price += c.report.NewNodes[i].PricePerHour
		placed += len(c.report.NewNodes[i].Pods)
	}
	for i := range c.report.ExistingNodes {
		placed += len(c.report.ExistingNodes[i].Pods)
	}
	if all := placed + len(c.report.Unschedulable); s.Scheduled != placed || s.Pods != all {
		c.faults.say(RuleSums, "", "", "the summary says %d of %d pods, the report places %d of %d", s.Scheduled, s.Pods, placed, all)
	}
	if s.NewNodes != len(c.report.NewNodes) {
		c.faults.say(RuleSums, "", "", "the summary says %d new nodes, the report lists %d", s.NewNodes, len(c.report.NewNodes))
	}
	if !near(s.PricePerHour, price) {
		c.faults.say(RuleSums, "", "", "the summary says $%g an hour, the new nodes add up to $%g", s.PricePerHour, price)
	}
}

// near compares amounts of money that were added up in different orders.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(a), math.Abs(b)) }
