package naive

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
)

// Types gives the instance types that a node class, by its name, can launch.
type Types func(nodeClass string) []cluster.InstanceType

// Check returns everything that is wrong with a report, in words and in a
// fixed order; nothing when the report is right. What it looks at:
//
//   - every new node with every instance type, zone and capacity type that the
//     report allows it, the others being what is cheapest for them;
//   - all new nodes at once in a handful of joint choices (all in one zone
//     where they may, all of one capacity type, the dearest, some at random);
//   - standing nodes and claims in flight that take pods;
//   - whether the scheduler can bind the pods one after the other;
//   - limits, minValues, reservations, prices and the sums of the report;
//   - each pod left out: whether it could be placed now, alone, and whether pods
//     of lower priority are in its way.
func Check(snap *cluster.Snapshot, types Types, report plan.Report) []string {
	c := newChecker(snap, types, &report)
	c.checkPods()
	c.checkNewNodes()
	c.checkStanding()
	if len(c.found) == 0 { // else what was found would be found again
		c.checkJointly()
		c.checkOrder()
	}
	c.checkLimits()
	c.checkReservations()
	c.checkSummary()
	c.checkLeftOut()
	c.checkPriorities()
	return c.found
}

// checker is one run of Check.
type checker struct {
	snap   *cluster.Snapshot
	types  Types
	report *plan.Report

	pools   map[string]*cluster.NodePool
	classes map[string]*cluster.NodeClass
	pods    map[string]*cluster.Pod // by key
	catalog map[string][]cluster.InstanceType
	rules   map[*cluster.Pod]*rules
	domains map[*cluster.Pod]map[string][]string // what domainsFor found
	vols    volumes
	spaces  map[string]map[string]string // namespace → labels

	world  *world
	placed map[string]string // pod → node, as the report has it

	found []string
	seen  map[string]bool
}

func newChecker(snap *cluster.Snapshot, types Types, report *plan.Report) *checker {
	c := &checker{
		snap: snap, types: types, report: report,
		pools: map[string]*cluster.NodePool{}, classes: map[string]*cluster.NodeClass{},
		pods: map[string]*cluster.Pod{}, catalog: map[string][]cluster.InstanceType{},
		rules: map[*cluster.Pod]*rules{}, domains: map[*cluster.Pod]map[string][]string{}, spaces: map[string]map[string]string{},
		placed: map[string]string{}, seen: map[string]bool{},
	}
	for i := range snap.NodePools {
		c.pools[snap.NodePools[i].Name] = &snap.NodePools[i]
	}
	for i := range snap.NodeClasses {
		c.classes[snap.NodeClasses[i].Name] = &snap.NodeClasses[i]
	}
	for i := range snap.Pods {
		c.pods[snap.Pods[i].Key()] = &snap.Pods[i]
	}
	for i := range snap.Namespaces {
		c.spaces[snap.Namespaces[i].Name] = snap.Namespaces[i].Labels
	}
	c.vols = readVolumes(snap)
	c.world = c.buildWorld()
	return c
}

// say records a violation once.
func (c *checker) say(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if !c.seen[s] {
		c.seen[s] = true
		c.found = append(c.found, s)
	}
}

// checkPods holds the pods of the report against those of the snapshot: each
// one that waits is placed once or left out with a reason, and no other is.
func (c *checker) checkPods() {
	count := map[string]int{}
	for _, where := range c.placements() {
		count[where.pod]++
		if p := c.pods[where.pod]; p == nil {
			c.say("%s: pod %s is not in the snapshot", where.node, where.pod)
		} else if !c.waits(p) {
			c.say("%s: pod %s does not wait for a node", where.node, where.pod)
		} else if len(p.Problems) > 0 {
			c.say("%s: pod %s is placed although %s", where.node, where.pod, p.Problems[0])
		}
	}
	for _, l := range c.report.Unschedulable {
		count[l.Pod]++
		if len(l.Reasons) == 0 {
			c.say("pod %s is left out without a reason", l.Pod)
		}
		if p := c.pods[l.Pod]; p == nil {
			c.say("pod %s is left out but is not in the snapshot", l.Pod)
		} else if !c.waits(p) {
			c.say("pod %s is left out but does not wait for a node", l.Pod)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(count)) {
		if count[k] > 1 {
			c.say("pod %s is in the report %d times", k, count[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(c.pods)) {
		if p := c.pods[k]; c.waits(p) && count[k] == 0 && !optsOut(p) {
			c.say("pod %s waits for a node and is not in the report", k)
		}
	}
}

type placement struct{ node, pod string }

// placements lists the report's placements in its own order.
func (c *checker) placements() []placement {
	var out []placement
	for _, n := range c.report.NewNodes {
		for _, p := range n.Pods {
			out = append(out, placement{"new node " + n.Name, p.Pod})
		}
	}
	for _, n := range c.report.ExistingNodes {
		for _, p := range n.Pods {
			out = append(out, placement{"node " + n.Name, p.Pod})
		}
	}
	return out
}

// waits tells whether a pod is one that the plan is for: it is unschedulable
// and pending, or it runs on a node that is going away and will be made again.
func (c *checker) waits(p *cluster.Pod) bool {
	if p.Deleting || p.Phase == "Succeeded" || p.Phase == "Failed" || p.Owner.Kind == "DaemonSet" || p.Owner.Kind == "Node" {
		return false
	}
	if p.NodeName != "" {
		return c.leaving(p.NodeName)
	}
	return p.Unschedulable && p.NominatedNodeName == "" && !p.Gated
}

// leaving tells whether a standing node is going away.
func (c *checker) leaving(name string) bool {
	for i := range c.snap.Nodes {
		n := &c.snap.Nodes[i]
		if n.Name != name {
			continue
		}
		claim := c.claimOf(n)
		return n.Deleting || claim != nil && claim.Deleting
	}
	return false
}

// claimOf is the claim that a node fulfils, nil when there is none.
func (c *checker) claimOf(n *cluster.Node) *cluster.NodeClaim {
	for i := range c.snap.Claims {
		m := &c.snap.Claims[i]
		if m.NodeName == n.Name || m.ProviderID != "" && m.ProviderID == n.ProviderID {
			return m
		}
	}
	return nil
}

// optsOut tells whether a pod asks for no NodePool's node at all, in which case
// the report may pass over it in silence.
func optsOut(p *cluster.Pod) bool {
	if p.Affinity == nil || p.Affinity.NodeAffinity == nil || p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	for _, t := range p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, e := range t.MatchExpressions {
			if e.Key == cluster.LabelNodePool && e.Operator == "DoesNotExist" {
				return true
			}
		}
	}
	return false
}
