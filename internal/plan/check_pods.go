package plan

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// readPods finds out which pods wait for a place and where the others run.
func (c *checker) readPods() {
	c.waiting = make(map[string]*seeker)
	c.boundTo = make([]int32, len(c.snap.Pods))
	for i := range c.snap.Pods {
		p := &c.snap.Pods[i]
		c.boundTo[i] = -1
		if c.seeks(p) {
			w := &seeker{pod: p, key: p.Key(), site: -1}
			c.waiting[w.key] = w
			c.seekers = append(c.seekers, w)
			continue
		}
		if p.NodeName == "" || finished(p) {
			continue
		}
		if s, ok := c.siteOf[p.NodeName]; ok && c.sites[s].node != nil {
			c.boundTo[i] = s
		}
	}
}

// seeks tells whether the plan is for a pod: it is pending and unschedulable (or
// stands for one that may come), or it runs on a node that goes away.
func (c *checker) seeks(p *cluster.Pod) bool {
	if p.Deleting || finished(p) || p.Owner.Kind == "DaemonSet" || p.Owner.Kind == "Node" {
		return false
	}
	if p.NodeName != "" {
		return c.leaving[p.NodeName]
	}
	return (p.Unschedulable || p.Virtual) && p.NominatedNodeName == "" && !p.Gated
}

func finished(p *cluster.Pod) bool {
	return p.Phase == corev1.PodSucceeded || p.Phase == corev1.PodFailed
}

// optsOut tells whether a pod wants no NodePool's node, so that a plan may pass
// over it in silence.
func optsOut(p *cluster.Pod) bool {
	required := requiredNodeAffinity(p)
	if required == nil {
		return false
	}
	for i := range required.NodeSelectorTerms {
		for _, e := range required.NodeSelectorTerms[i].MatchExpressions {
			if e.Key == cluster.LabelNodePool && e.Operator == corev1.NodeSelectorOpDoesNotExist {
				return true
			}
		}
	}
	return false
}

func requiredNodeAffinity(p *cluster.Pod) *corev1.NodeSelector {
	if p.Affinity == nil || p.Affinity.NodeAffinity == nil {
		return nil
	}
	return p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// placePods adds the new nodes to the sites and puts every pod where the report
// puts it.
func (c *checker) placePods() {
	named := map[string]bool{}
	for i := range c.report.ExistingNodes {
		e := &c.report.ExistingNodes[i]
		k, ok := c.siteOf[e.Name]
		if !ok {
			c.faults.say(RulePlacement, e.Name, "", "takes pods and neither stands nor is in flight")
			continue
		}
		s := c.sites[k]
		if named[e.Name] {
			c.faults.say(RuleRecords, e.Name, "", "is in the report twice")
		}
		named[e.Name] = true
		if e.InFlight != (s.claim != nil) {
			c.faults.say(RuleRecords, e.Name, "", "the report says that in flight is %t", e.InFlight)
		}
		if len(e.Pods) == 0 {
			c.faults.say(RuleRecords, e.Name, "", "is in the report and takes no pod")
		}
		c.place(k, e.Pods)
	}
	store := make([]site, len(c.report.NewNodes))
	for i := range c.report.NewNodes {
		n := &c.report.NewNodes[i]
		if _, taken := c.siteOf[n.Name]; taken || c.leaving[n.Name] || n.Name == "" {
			c.faults.say(RuleRecords, n.Name, "", "the name of a new node is taken or empty")
		}
		store[i] = site{name: n.Name, plan: n}
		if p := c.pools[n.NodePool]; p != nil {
			store[i].taints = p.Taints
		}
		c.addSite(&store[i])
		c.place(int32(len(c.sites)-1), n.Pods)
	}
	c.collectBound()
}

func (c *checker) place(k int32, pods []Placement) {
	s := c.sites[k]
	if s.pods == nil {
		s.pods = make([]*cluster.Pod, 0, len(pods))
	}
	for i := range pods {
		w := c.waiting[pods[i].Pod]
		switch {
		case w == nil:
			c.faults.say(RulePlacement, s.name, pods[i].Pod, "%s", c.stranger(pods[i].Pod))
		case w.site >= 0:
			c.faults.say(RulePlacement, s.name, pods[i].Pod, "is placed on node %s too", c.sites[w.site].name)
		default:
			if len(w.pod.Problems) > 0 {
				c.faults.say(RulePlacement, s.name, pods[i].Pod, "is placed although %s", w.pod.Problems[0])
			}
			w.site = k
			s.pods = append(s.pods, w.pod)
		}
	}
}

// stranger says why a pod should not be in the report.
func (c *checker) stranger(key string) string {
	space, name, _ := strings.Cut(key, "/")
	for i := range c.snap.Pods {
		if p := &c.snap.Pods[i]; p.Name == name && p.Namespace == space {
			return "does not wait for a place"
		}
	}
	return "is not in the snapshot"
}

// collectBound gathers the running pods of the sites that take more.
func (c *checker) collectBound() {
	if len(c.report.ExistingNodes) == 0 {
		return
	}
	for i, k := range c.boundTo {
		if k >= 0 && len(c.sites[k].pods) > 0 {
			c.sites[k].bound = append(c.sites[k].bound, &c.snap.Pods[i])
		}
	}
}

// checkAccounts asks that every pod that waits is in the report once: placed, or
// left out with a reason.
func (c *checker) checkAccounts() {
	for i := range c.report.Unschedulable {
		l := &c.report.Unschedulable[i]
		w := c.waiting[l.Pod]
		switch {
		case w == nil:
			c.faults.say(RulePlacement, "", l.Pod, "is left out and %s", c.stranger(l.Pod))
			continue
		case w.left:
			c.faults.say(RulePlacement, "", l.Pod, "is left out twice")
		case w.site >= 0:
			c.faults.say(RulePlacement, c.sites[w.site].name, l.Pod, "is left out and placed")
		}
		w.left = true
		if len(l.Reasons) == 0 {
			c.faults.say(RulePlacement, "", l.Pod, "is left out without a reason")
		}
	}
	for _, w := range c.seekers {
		if w.site < 0 && !w.left && !optsOut(w.pod) {
			c.faults.say(RulePlacement, "", w.key, "waits for a place and is not in the report")
		}
	}
}
