package provisioning

import (
	"maps"
	"slices"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/scheduling"
)

// world is the snapshot, looked up by name.
type world struct {
	snap    *cluster.Snapshot
	classes map[string]*cluster.NodeClass
	pools   map[string]*cluster.NodePool
	claimOf map[string]*cluster.NodeClaim     // by node name
	claims  []*cluster.NodeClaim              // in flight, by name
	ending  []*cluster.NodeClaim              // without a node, and going away: they count until they are gone
	bound   map[string][]*cluster.Pod         // by node name
	daemons []*cluster.DaemonSet              // by namespace and name
	types   map[string][]cluster.InstanceType // by NodePool
}

func newWorld(snap *cluster.Snapshot) *world {
	w := &world{snap: snap, classes: map[string]*cluster.NodeClass{}, pools: map[string]*cluster.NodePool{},
		claimOf: map[string]*cluster.NodeClaim{}, types: map[string][]cluster.InstanceType{}, bound: make(map[string][]*cluster.Pod, len(snap.Nodes))}
	for i := range snap.NodeClasses {
		w.classes[snap.NodeClasses[i].Name] = &snap.NodeClasses[i]
	}
	for i := range snap.NodePools {
		w.pools[snap.NodePools[i].Name] = &snap.NodePools[i]
	}
	byID := make(map[string]string, len(snap.Nodes))
	there := make(map[string]bool, len(snap.Nodes))
	for i := range snap.Nodes {
		n := &snap.Nodes[i]
		there[n.Name] = true
		if n.ProviderID != "" {
			byID[n.ProviderID] = n.Name
		}
	}
	for i := range snap.Claims {
		c := &snap.Claims[i]
		name := c.NodeName
		if !there[name] {
			name = byID[c.ProviderID]
		}
		switch {
		case name != "":
			w.claimOf[name] = c
		case c.Deleting:
			w.ending = append(w.ending, c)
		default:
			w.claims = append(w.claims, c)
		}
	}
	sort.Slice(w.claims, func(i, j int) bool { return w.claims[i].Name < w.claims[j].Name })
	for i := range snap.DaemonSets {
		w.daemons = append(w.daemons, &snap.DaemonSets[i])
	}
	sort.Slice(w.daemons, func(i, j int) bool {
		a, b := w.daemons[i], w.daemons[j]
		return a.Namespace+"/"+a.Name < b.Namespace+"/"+b.Name
	})
	for i := range snap.Pods {
		if p := &snap.Pods[i]; p.NodeName != "" && !finished(p) {
			w.bound[p.NodeName] = append(w.bound[p.NodeName], p)
		}
	}
	return w
}

// goesAway tells whether a node is on its way out, so that its pods need others.
func (w *world) goesAway(n *cluster.Node) bool {
	if n.Deleting {
		return true
	}
	if c := w.claimOf[n.Name]; c != nil && c.Deleting {
		return true
	}
	return slices.ContainsFunc(n.Taints, func(t corev1.Taint) bool { return t.Key == cluster.TaintDisrupted })
}

// standing reads the nodes and the claims in flight.
func (w *world) standing() []scheduling.Standing {
	out := make([]scheduling.Standing, 0, len(w.snap.Nodes)+len(w.claims))
	for i := range w.snap.Nodes {
		out = append(out, w.node(&w.snap.Nodes[i]))
	}
	for _, c := range w.claims {
		out = append(out, w.inFlight(c))
	}
	return out
}

func (w *world) node(n *cluster.Node) scheduling.Standing {
	s := scheduling.Standing{Name: n.Name, Labels: n.Labels, Taints: n.Taints, Allocatable: n.Allocatable, VolumeLimits: n.VolumeLimits,
		Pods: w.bound[n.Name], Closed: n.Cordoned}
	if _, ok := n.Labels[cluster.LabelHostname]; !ok {
		s.Labels = maps.Clone(n.Labels)
		if s.Labels == nil {
			s.Labels = map[string]string{}
		}
		s.Labels[cluster.LabelHostname] = n.Name
	}
	if n.Cordoned && !slices.ContainsFunc(n.Taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable }) {
		// What the node lifecycle controller adds to a cordoned node.
		s.Taints = append(slices.Clone(n.Taints), corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
	}
	if w.goesAway(n) {
		s.Closed, s.Leaving = true, true
		s.Pods = slices.DeleteFunc(slices.Clone(s.Pods), moves)
	}
	if !n.Initialized() {
		s.Taints = w.lastingTaints(n, s.Taints)
		if c := w.claimOf[n.Name]; c != nil {
			s.Allocatable = expected(n.Allocatable, c.Allocatable)
		}
	} else if !n.Ready {
		s.Closed = true
		if !slices.ContainsFunc(s.Taints, func(t corev1.Taint) bool {
			return t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable
		}) {
			// What the node lifecycle controller adds to a node that is not ready.
			s.Taints = append(slices.Clone(s.Taints), corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
		}
	}
	s.Used = w.used(&s)
	return s
}

// expected fills in what a starting node does not report yet.
func expected(reported, promised cluster.Resources) cluster.Resources {
	out := reported
	for _, r := range promised {
		if out.Get(r.Name) == 0 {
			out = out.With(r.Name, r.Amount)
		}
	}
	return out
}

// lastingTaints drops the taints that go when a node has started: those that its
// claim was made with, or, where there is no claim, its NodePool's.
func (w *world) lastingTaints(n *cluster.Node, taints []corev1.Taint) []corev1.Taint {
	var startup []corev1.Taint
	if c := w.claimOf[n.Name]; c != nil {
		startup = c.StartupTaints
	} else if p := w.pools[n.NodePoolName()]; p != nil {
		startup = p.StartupTaints
	}
	return slices.DeleteFunc(slices.Clone(taints), func(t corev1.Taint) bool {
		return ephemeral(&t) || slices.ContainsFunc(startup, func(s corev1.Taint) bool { return s.Key == t.Key && s.Effect == t.Effect })
	})
}

func ephemeral(t *corev1.Taint) bool {
	switch t.Key {
	case "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "node.cloudprovider.kubernetes.io/uninitialized", cluster.TaintUnregistered:
		return true
	}
	return strings.HasPrefix(t.Key, "readiness.k8s.io/")
}

// inFlight is a claim whose node has not joined: its labels are what its
// requirements fix, its room what the claim promises.
func (w *world) inFlight(c *cluster.NodeClaim) scheduling.Standing {
	labels := maps.Clone(c.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	for _, r := range c.Requirements {
		if r.Operator == cluster.In && len(r.Values) == 1 {
			if _, ok := labels[r.Key]; !ok {
				labels[r.Key] = r.Values[0]
			}
		}
	}
	if _, ok := labels[cluster.LabelNodePool]; !ok && c.NodePool != "" {
		labels[cluster.LabelNodePool] = c.NodePool
	}
	s := scheduling.Standing{Name: c.Name, InFlight: true, Labels: labels, Taints: c.Taints, Allocatable: c.Allocatable}
	if t := w.typeOf(labels); t != nil {
		for k, v := range t.Labels {
			if _, ok := labels[k]; !ok {
				labels[k] = v
			}
		}
		s.VolumeLimits = scheduling.VolumeLimits(t)
	}
	labels[cluster.LabelHostname] = c.Name
	if len(s.Allocatable) == 0 {
		s.Closed = true // nothing is known of its room yet
	}
	s.Used = w.used(&s)
	return s
}

// typeOf is the instance type that a node's labels name, nil where its NodePool
// has none of that name.
func (w *world) typeOf(labels map[string]string) *cluster.InstanceType {
	name, ok := labels[cluster.LabelInstanceType]
	if !ok {
		return nil
	}
	types := w.types[labels[cluster.LabelNodePool]]
	for i := range types {
		if types[i].Name == name {
			return &types[i]
		}
	}
	return nil
}

// used is what the bound pods ask for, and the daemons that are still to come.
func (w *world) used(s *scheduling.Standing) cluster.Resources {
	var total cluster.Resources
	add := func(p *cluster.Pod) {
		for i := range p.Requests {
			accumulate(&total, p.Requests[i].Name, p.Requests[i].Amount)
		}
		accumulate(&total, cluster.Pods, 1)
	}
	for _, p := range s.Pods {
		add(p)
	}
	var coming []*cluster.Pod
	for _, d := range w.daemons {
		runs := slices.ContainsFunc(s.Pods, func(p *cluster.Pod) bool {
			return p.Owner.Kind == "DaemonSet" && p.Owner.Name == d.Name && p.Namespace == d.Namespace
		})
		if !runs && scheduling.Admits(&d.Template, s.Name, s.Labels, s.Taints) {
			add(&d.Template)
			coming = append(coming, &d.Template)
		}
	}
	if len(coming) > 0 {
		// Their host ports are as good as taken.
		s.Pods = append(slices.Clone(s.Pods), coming...)
	}
	return total
}

// accumulate adds to an ordered list in place.
func accumulate(r *cluster.Resources, name string, amount int64) {
	l := *r
	i := 0
	for i < len(l) && l[i].Name < name {
		i++
	}
	if i < len(l) && l[i].Name == name {
		l[i].Amount += amount
		return
	}
	*r = slices.Insert(l, i, cluster.Resource{Name: name, Amount: amount})
}

// inUse sums the capacity of a pool's nodes and of its claims in flight.
func (w *world) inUse() map[string]cluster.Resources {
	out := map[string]cluster.Resources{}
	add := func(pool string, capacity cluster.Resources) {
		total := out[pool]
		for i := range capacity {
			accumulate(&total, capacity[i].Name, capacity[i].Amount)
		}
		accumulate(&total, cluster.Nodes, 1)
		out[pool] = total
	}
	for i := range w.snap.Nodes {
		n := &w.snap.Nodes[i]
		if pool := n.NodePoolName(); pool != "" {
			capacity := n.Capacity
			if c := w.claimOf[n.Name]; c != nil {
				capacity = expected(capacity, c.Capacity)
			}
			add(pool, capacity)
		}
	}
	for _, c := range w.claims {
		add(c.NodePool, c.Capacity)
	}
	for _, c := range w.ending {
		add(c.NodePool, c.Capacity)
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
