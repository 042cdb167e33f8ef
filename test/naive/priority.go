package naive

import (
	"slices"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// checkPriorities looks for pods left out in favour of lesser ones: one that
// would be admitted on a node if the planned pods of lower priority were not
// there, or for which a node could be made within the limits if one that serves
// lower priorities alone were not. Only pods without topology rules are looked
// at, and pools without minValues: with them, what is in the way of what is a
// question of its own.
func (c *checker) checkPriorities() {
	for i, l := range c.report.Unschedulable {
		p := c.pods[l.Pod]
		if i >= sample {
			return
		}
		if c.hopeless(p) || c.placed[l.Pod] != "" || c.bound(p) {
			continue
		}
		for _, n := range c.world.nodes {
			if lesser := c.lesserOn(n, p); len(lesser) > 0 && c.wouldMakeWay(p, n, lesser) {
				c.say("pod %s of priority %d is left out, pod %s of priority %d is placed on %s in its way", p.Key(), p.Priority, lesser[0].Key(), lesser[0].Priority, n.title)
				break
			}
		}
	}
}

// bound tells whether topology rules, its own or others', concern a pod.
func (c *checker) bound(p *cluster.Pod) bool {
	r := c.rulesOf(p)
	if len(r.spread)+len(r.affinity)+len(r.anti)+len(p.Volumes) > 0 {
		return true
	}
	for i := range c.snap.Pods {
		if slices.ContainsFunc(c.rulesOf(&c.snap.Pods[i]).anti, func(t term) bool { return c.matches(t, p) }) {
			return true
		}
	}
	return false
}

// lesserOn lists the planned pods of lower priority on a node.
func (c *checker) lesserOn(n *node, p *cluster.Pod) []*cluster.Pod {
	return slices.DeleteFunc(c.planned(n), func(q *cluster.Pod) bool { return q.Priority >= p.Priority })
}

// wouldMakeWay tells whether a pod could be placed if the lesser pods of a node
// were not there: on that node, or, when the node is for them alone, on a new one.
func (c *checker) wouldMakeWay(p *cluster.Pod, n *node, lesser []*cluster.Pod) bool {
	if n.plan != nil && slices.ContainsFunc(c.pools[n.plan.NodePool].Requirements, func(r cluster.Requirement) bool { return r.MinValues > 1 }) {
		return false
	}
	before := n.pods
	defer func() { n.pods = before }()
	n.pods = slices.DeleteFunc(slices.Clone(n.pods), func(q *cluster.Pod) bool { return slices.Contains(lesser, q) })
	if !n.closed && c.admits(c.world, p, n, nil) {
		return true
	}
	if n.plan == nil || len(lesser) < len(n.plan.Pods) {
		return false
	}
	nodes := c.world.nodes
	defer func() { c.world.nodes = nodes }()
	c.world.nodes = slices.DeleteFunc(slices.Clone(nodes), func(m *node) bool { return m == n })
	return c.freshFor(p, c.pools[n.plan.NodePool], nil) != ""
}
