package naive

import (
	"maps"
	"slices"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// checkOrder binds the planned pods one after the other, as the scheduler will
// once the nodes are there, each time one that its node admits by then. Two pods
// that each wait for the other are admitted when both are placed, and are never
// placed.
func (c *checker) checkOrder() {
	waiting := map[string]*node{}
	for _, n := range c.world.nodes {
		for _, p := range c.planned(n) {
			waiting[p.Key()] = n
		}
	}
	if len(waiting) > mostOrdered {
		return
	}
	if left := c.unbindable(waiting); len(left) > 0 {
		c.say("no order in which the scheduler would bind %s", strings.Join(left, ", "))
	}
}

// unbindable binds pods to the nodes that they are on, by key, beginning without
// them, and lists those that never are.
func (c *checker) unbindable(waiting map[string]*node) []string {
	full := map[*node][]*cluster.Pod{}
	for _, n := range c.world.nodes {
		full[n] = n.pods
		n.pods = slices.DeleteFunc(slices.Clone(n.pods), func(p *cluster.Pod) bool { return waiting[p.Key()] == n && c.pods[p.Key()] == p })
	}
	for c.bindNext(waiting) {
	}
	for _, n := range c.world.nodes {
		n.pods = full[n]
	}
	return slices.Sorted(maps.Keys(waiting))
}

// mostOrdered is how many planned pods checkOrder takes: it looks at each one
// again after each round.
const mostOrdered = 2000

// bindNext binds every pod that its node admits, and tells whether any was.
func (c *checker) bindNext(waiting map[string]*node) bool {
	progress := false
	for _, k := range slices.Sorted(maps.Keys(waiting)) {
		p, n := c.pods[k], waiting[k]
		if len(c.refusals(p, n)) == 0 && len(c.topologyRefusals(c.world, p, n)) == 0 {
			n.pods = append(n.pods, p)
			delete(waiting, k)
			progress = true
		}
	}
	return progress
}
