package naive

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
)

// checkNewNodes looks at each new node as everything that it may be.
func (c *checker) checkNewNodes() {
	keys := c.topologyKeys()
	for _, n := range c.world.nodes {
		if n.plan == nil {
			continue
		}
		pool := c.pools[n.plan.NodePool]
		if pool == nil || pool.Deleting || pool.Replicas != nil {
			c.say("%s: NodePool %q makes no nodes", n.title, n.plan.NodePool)
			continue
		}
		if len(n.plan.Pods) == 0 {
			c.say("%s takes no pod", n.title)
		}
		if len(n.options) == 0 {
			c.say("%s: nothing that it lists is offered", n.title)
			continue
		}
		c.checkChoice(n)
		c.checkOptions(n, pool, keys)
		c.become(n, pool, n.options[0])
		c.checkSums(n)
	}
}

// checkChoice holds the report's cheapest choice and its lists against what is
// offered.
func (c *checker) checkChoice(n *node) {
	r, pick := n.plan, n.options[0]
	if pick.typ.Name != r.InstanceType || pick.off.Zone != r.Zone || pick.off.CapacityType != r.CapacityType {
		c.say("%s: its choice %s/%s/%s is not among what it lists and is offered", n.title, r.InstanceType, r.Zone, r.CapacityType)
	}
	cheapest := slices.MinFunc(n.options, func(a, b option) int { return cmp.Compare(a.off.Price, b.off.Price) })
	if !near(r.PricePerHour, cheapest.off.Price) {
		c.say("%s: $%g an hour, the cheapest that it lists is %s at $%g", n.title, r.PricePerHour, cheapest, cheapest.off.Price)
	}
	lists := []struct {
		what string
		list []string
		of   func(option) string
	}{
		{"instance type", r.InstanceTypes, func(o option) string { return o.typ.Name }},
		{"zone", r.Zones, func(o option) string { return o.off.Zone }},
		{"capacity type", r.CapacityTypes, func(o option) string { return o.off.CapacityType }},
	}
	for _, l := range lists {
		for _, v := range l.list {
			if !slices.ContainsFunc(n.options, func(o option) bool { return l.of(o) == v }) {
				c.say("%s: lists %s %s, which is not offered with the rest", n.title, l.what, v)
			}
		}
	}
	c.checkListOrder(n)
}

// checkListOrder holds the list of types against its own order, by the cheapest
// offering of each that a launch would use: spot that is dearer than the
// cheapest on-demand choice is dropped before.
func (c *checker) checkListOrder(n *node) {
	dear := math.Inf(1)
	for _, o := range n.options {
		if o.off.CapacityType == cluster.OnDemand {
			dear = min(dear, o.off.Price)
		}
	}
	last := 0.0
	for _, t := range n.plan.InstanceTypes {
		least, price := math.Inf(1), math.Inf(1)
		for _, o := range n.options {
			if o.typ.Name != t {
				continue
			}
			least = min(least, o.off.Price)
			if o.off.CapacityType != cluster.Spot || o.off.Price <= dear {
				price = min(price, o.off.Price)
			}
		}
		if math.IsInf(price, 1) {
			price = least
		}
		if !math.IsInf(price, 1) && price < last-1e-9 {
			c.say("%s: its instance types are not in the order of their price: %s", n.title, strings.Join(n.plan.InstanceTypes, " "))
			return
		}
		if !math.IsInf(price, 1) {
			last = price
		}
	}
}

// checkOptions puts the node's pods on it as each of its options. The topology
// rules are looked at once for each set of values that they could see.
func (c *checker) checkOptions(n *node, pool *cluster.NodePool, keys []string) {
	seen := map[string]map[string]bool{}
	looked := map[string]bool{}
	for _, o := range n.options {
		c.become(n, pool, o)
		note(seen, pool, n.labels)
		c.checkPool(n, pool, o)
		var values strings.Builder
		for _, k := range keys {
			values.WriteString(n.labels[k] + "|")
		}
		for _, p := range c.planned(n) {
			for _, why := range c.refusals(p, n) {
				c.say("%s as %s: pod %s: %s", n.title, o, p.Key(), why)
			}
			if looked[values.String()] {
				continue
			}
			for _, why := range append(c.topologyRefusals(c.world, p, n), c.zoneRefusals(c.world, p, n)...) {
				c.say("%s as %s: pod %s: %s", n.title, o, p.Key(), why)
			}
		}
		looked[values.String()] = true
	}
	for _, k := range diversity(pool, seen) {
		c.say("%s: minValues of %s in NodePool %s is not reached", n.title, k, pool.Name)
	}
}

// checkPool holds an option against the NodePool's requirements and the node
// class's images.
func (c *checker) checkPool(n *node, pool *cluster.NodePool, o option) {
	for _, r := range pool.Requirements {
		if !c.meets(n.labels, pool, r) {
			c.say("%s as %s: NodePool %s wants %s %s %s, the node has %q", n.title, o, pool.Name, r.Key, r.Operator, strings.Join(r.Values, ","), n.labels[r.Key])
		}
	}
	class := c.classes[pool.NodeClass.Name]
	if class != nil && len(class.AMIArchs) > 0 && !slices.Contains(class.AMIArchs, o.typ.Arch) {
		c.say("%s as %s: the node class has no image for %s", n.title, o, o.typ.Arch)
	}
	if n.plan != nil {
		for k, v := range pool.Labels {
			if got, ok := n.plan.Labels[k]; ok && got != v {
				c.say("%s: label %s is %q, the template says %q", n.title, k, got, v)
			}
		}
	}
}

// meets applies a requirement of a pool to a node's labels. A custom label that
// only has to exist may be given its value at the launch.
func (c *checker) meets(labels map[string]string, pool *cluster.NodePool, r cluster.Requirement) bool {
	if holds(labels, r.Key, string(r.Operator), r.Values) {
		return true
	}
	return r.Operator == cluster.Exists && slices.Contains(c.custom(pool), r.Key)
}

// planned lists the pods that the plan puts on a node.
func (c *checker) planned(n *node) []*cluster.Pod {
	var out []*cluster.Pod
	for _, p := range n.pods {
		if p.Owner.Kind != "DaemonSet" && c.placed[p.Key()] == n.name && c.pods[p.Key()] == p {
			out = append(out, p)
		}
	}
	return out
}

// checkSums adds up what the report says of a node as its cheapest choice. The
// overhead of daemons is known by type: one that runs in some zones only may be
// counted in all, but none may be forgotten.
func (c *checker) checkSums(n *node) {
	var pods, daemons cluster.Resources
	for _, p := range n.pods {
		if p.Owner.Kind == "DaemonSet" {
			daemons = daemons.Add(p.Requests)
		} else {
			pods = pods.Add(p.Requests)
		}
	}
	for _, k := range []string{cluster.CPU, cluster.Memory} {
		if got, want := n.plan.Daemons.Get(k), daemons.Get(k); got < want {
			c.say("%s: daemons request %d of %s, they add up to %d", n.title, got, k, want)
		}
		if got, want := n.plan.Requests.Get(k), pods.Get(k)+n.plan.Daemons.Get(k); got != want {
			c.say("%s: requests %d of %s, its pods and daemons add up to %d", n.title, got, k, want)
		}
		if got, want := n.plan.Allocatable.Get(k), n.alloc[k]; got != want {
			c.say("%s: %d of %s allocatable, its choice has %d", n.title, got, k, want)
		}
	}
}

// checkStanding puts the pods of standing nodes and claims on them.
func (c *checker) checkStanding() {
	for i := range c.report.ExistingNodes {
		e := &c.report.ExistingNodes[i]
		n := c.world.byKey[e.Name]
		if n == nil {
			continue // said before
		}
		if claim := strings.HasPrefix(n.title, "claim "); claim != e.InFlight {
			c.say("%s: in flight is %t", n.title, e.InFlight)
		}
		for _, p := range c.planned(n) {
			for _, why := range slices.Concat(c.refusals(p, n), c.topologyRefusals(c.world, p, n), c.zoneRefusals(c.world, p, n)) {
				c.say("%s: pod %s: %s", n.title, p.Key(), why)
			}
		}
	}
}

// checkJointly makes several choices for all new nodes at once: what EC2 gives
// to one node is not known to another, so every joint choice must hold.
func (c *checker) checkJointly() {
	if !slices.ContainsFunc(c.report.NewNodes, func(n plan.NewNode) bool { return len(n.InstanceTypes)*len(n.Zones)*len(n.CapacityTypes) > 1 }) {
		return
	}
	zones, kinds := map[string]bool{}, map[string]bool{}
	for _, n := range c.report.NewNodes {
		for _, z := range n.Zones {
			zones[z] = true
		}
		for _, k := range n.CapacityTypes {
			kinds[k] = true
		}
	}
	for _, z := range sortedKeys(zones) {
		c.jointly("zone "+z+" where it may be", func(o option) bool { return o.off.Zone == z })
	}
	for _, k := range sortedKeys(kinds) {
		c.jointly(k+" where it may be", func(o option) bool { return o.off.CapacityType == k })
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		c.jointly("a choice at random", func(option) bool { return r.IntN(4) == 0 })
	}
	for _, n := range c.world.nodes {
		if len(n.options) > 0 {
			c.become(n, c.pools[n.plan.NodePool], n.options[0])
		}
	}
}

// jointly gives every new node the first option that f takes, the dearest
// first, and looks at the topology rules of every planned pod.
func (c *checker) jointly(what string, f func(option) bool) {
	for _, n := range c.world.nodes {
		if len(n.options) == 0 {
			continue
		}
		o := n.options[0]
		for i := len(n.options) - 1; i >= 0; i-- {
			if f(n.options[i]) {
				o = n.options[i]
				break
			}
		}
		c.become(n, c.pools[n.plan.NodePool], o)
	}
	for _, n := range c.world.nodes {
		for _, p := range c.planned(n) {
			for _, why := range append(c.topologyRefusals(c.world, p, n), c.zoneRefusals(c.world, p, n)...) {
				c.say("%s, every node %s: pod %s: %s", n.title, what, p.Key(), why)
			}
		}
	}
}

// topologyKeys are the label keys that any pod's topology rules look at, and
// those that decide whether a node is one that a pod may use.
func (c *checker) topologyKeys() []string {
	keys := map[string]bool{}
	for i := range c.snap.Pods {
		r := c.rulesOf(&c.snap.Pods[i])
		for _, s := range r.spread {
			keys[s.key] = true
		}
		for _, t := range append(slices.Clone(r.affinity), r.anti...) {
			keys[t.key] = true
		}
		if len(c.snap.Pods[i].Volumes) > 0 {
			keys[cluster.LabelZone] = true
		}
		if len(r.spread) > 0 {
			for _, k := range selectedKeys(&c.snap.Pods[i]) {
				keys[k] = true
			}
		}
	}
	return sortedKeys(keys)
}

// selectedKeys are the label keys of a pod's node selector and required node
// affinity.
func selectedKeys(p *cluster.Pod) []string {
	keys := map[string]bool{}
	for k := range p.NodeSelector {
		keys[cluster.NormalLabel(k)] = true
	}
	if p.Affinity != nil && p.Affinity.NodeAffinity != nil && p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, t := range p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			for _, e := range t.MatchExpressions {
				keys[cluster.NormalLabel(e.Key)] = true
			}
		}
	}
	return sortedKeys(keys)
}

func sortedKeys(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
