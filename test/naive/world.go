package naive

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
)

// ebsDriver is the CSI driver that an instance type's volume limit is about.
const ebsDriver = "ebs.csi.aws.com"

// node is a node as the scheduler would see it.
type node struct {
	name   string
	title  string // for messages
	labels map[string]string
	taints []corev1.Taint
	alloc  map[string]int64
	limits map[string]int64 // volumes that a CSI driver attaches
	pods   []*cluster.Pod

	plan    *plan.NewNode // nil for standing nodes and claims
	options []option      // what the new node may be, cheapest first
	// closed nodes take no pod in the completeness test, whatever it tolerates.
	closed bool
}

// option is one thing that a new node may be.
type option struct {
	typ *cluster.InstanceType
	off *cluster.Offering
}

func (o option) String() string {
	return o.typ.Name + "/" + o.off.Zone + "/" + o.off.CapacityType
}

// world is every node that will be there when the plan has become real.
type world struct {
	nodes []*node
	byKey map[string]*node // standing nodes and claims by name
}

func (c *checker) buildWorld() *world {
	w := &world{byKey: map[string]*node{}}
	c.addStanding(w)
	c.addClaims(w)
	c.bindPods(w)
	for i := range c.report.ExistingNodes {
		e := &c.report.ExistingNodes[i]
		n := w.byKey[e.Name]
		if n == nil {
			c.say("node %s takes pods but does not stand", e.Name)
			continue
		}
		c.placeAll(n, e.Pods)
	}
	names := map[string]bool{}
	for i := range c.report.NewNodes {
		r := &c.report.NewNodes[i]
		if names[r.Name] || w.byKey[r.Name] != nil {
			c.say("new node %s: the name is taken", r.Name)
		}
		names[r.Name] = true
		n := c.newNode(r)
		c.placeAll(n, r.Pods)
		w.nodes = append(w.nodes, n)
	}
	return w
}

func (c *checker) placeAll(n *node, ps []plan.Placement) {
	for _, pl := range ps {
		if p := c.pods[pl.Pod]; p != nil {
			n.pods = append(n.pods, p)
			c.placed[pl.Pod] = n.name
		}
	}
}

// addStanding adds the nodes that stand and stay.
func (c *checker) addStanding(w *world) {
	for i := range c.snap.Nodes {
		s := &c.snap.Nodes[i]
		if c.leaving(s.Name) {
			continue
		}
		n := &node{
			name: s.Name, title: "node " + s.Name, labels: maps.Clone(s.Labels), taints: slices.Clone(s.Taints),
			alloc: s.Allocatable.Map(), limits: maps.Clone(s.VolumeLimits), closed: s.Cordoned || !s.Ready,
		}
		if n.labels == nil {
			n.labels = map[string]string{}
		}
		if n.labels[cluster.LabelHostname] == "" {
			n.labels[cluster.LabelHostname] = s.Name
		}
		if s.Initialized() {
			if !s.Ready {
				n.taints = append(n.taints, corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
			}
		} else {
			c.finishStart(s, n)
		}
		if s.Cordoned {
			n.taints = append(n.taints, corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule})
		}
		w.nodes = append(w.nodes, n)
		w.byKey[n.name] = n
	}
}

// finishStart makes of a node that is still starting the node that it will be:
// without its startup taints, and with what its claim promises.
func (c *checker) finishStart(s *cluster.Node, n *node) {
	n.closed = s.Cordoned
	var starting []corev1.Taint
	if claim := c.claimOf(s); claim != nil {
		starting = claim.StartupTaints
		for _, r := range claim.Allocatable {
			if n.alloc[r.Name] == 0 {
				n.alloc[r.Name] = r.Amount
			}
		}
	} else if pool := c.pools[s.NodePoolName()]; pool != nil {
		starting = pool.StartupTaints
	}
	n.taints = slices.DeleteFunc(n.taints, func(t corev1.Taint) bool {
		return ephemeral(t.Key) || slices.ContainsFunc(starting, func(u corev1.Taint) bool { return u.Key == t.Key && u.Effect == t.Effect })
	})
}

// ephemeral tells whether a taint goes away by itself while a node starts.
func ephemeral(key string) bool {
	switch key {
	case corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, "node.cloudprovider.kubernetes.io/uninitialized", cluster.TaintUnregistered:
		return true
	}
	return strings.HasPrefix(key, "readiness.k8s.io/")
}

// addClaims adds the claims in flight: those without a node that stands.
func (c *checker) addClaims(w *world) {
	for i := range c.snap.Claims {
		m := &c.snap.Claims[i]
		if m.Deleting || c.nodeOf(m) {
			continue
		}
		n := &node{name: m.Name, title: "claim " + m.Name, labels: maps.Clone(m.Labels), taints: slices.Clone(m.Taints), alloc: m.Allocatable.Map(), limits: map[string]int64{}}
		if n.labels == nil {
			n.labels = map[string]string{}
		}
		for _, r := range m.Requirements {
			if r.Operator == cluster.In && len(r.Values) == 1 && n.labels[r.Key] == "" {
				n.labels[r.Key] = r.Values[0]
			}
		}
		n.labels[cluster.LabelHostname] = m.Name
		n.labels[cluster.LabelNodePool] = m.NodePool
		for _, t := range c.typesOf(m.NodePool) {
			if t.Name == n.labels[cluster.LabelInstanceType] {
				n.limits[ebsDriver] = t.VolumeLimit
				for k, v := range t.Labels {
					if n.labels[k] == "" {
						n.labels[k] = v
					}
				}
			}
		}
		w.nodes = append(w.nodes, n)
		w.byKey[n.name] = n
	}
}

// nodeOf tells whether a claim's node stands, leaving ones included.
func (c *checker) nodeOf(m *cluster.NodeClaim) bool {
	for i := range c.snap.Nodes {
		n := &c.snap.Nodes[i]
		if m.NodeName == n.Name || m.ProviderID != "" && m.ProviderID == n.ProviderID {
			return true
		}
	}
	return false
}

// bindPods puts the pods that run on standing nodes there, and beside them the
// daemons that are to come.
func (c *checker) bindPods(w *world) {
	for i := range c.snap.Pods {
		p := &c.snap.Pods[i]
		if n := w.byKey[p.NodeName]; n != nil && p.NodeName != "" && p.Phase != corev1.PodSucceeded && p.Phase != corev1.PodFailed {
			n.pods = append(n.pods, p)
		}
	}
	for _, n := range w.nodes {
		n.pods = append(n.pods, c.daemonsFor(n)...)
	}
}

// daemonsFor makes the pods of the DaemonSets that a node is to run and does
// not run yet.
func (c *checker) daemonsFor(n *node) []*cluster.Pod {
	var out []*cluster.Pod
	for i := range c.snap.DaemonSets {
		d := &c.snap.DaemonSets[i]
		runs := slices.ContainsFunc(n.pods, func(p *cluster.Pod) bool {
			return p.Namespace == d.Namespace && p.Owner.Kind == "DaemonSet" && p.Owner.Name == d.Name
		})
		if !runs && daemonMatches(&d.Template, n) {
			p := d.Template
			p.Namespace, p.Name = d.Namespace, d.Name+"@"+n.name
			p.Owner = cluster.Owner{Kind: "DaemonSet", Name: d.Name}
			out = append(out, &p)
		}
	}
	return out
}

// daemonMatches tells whether the DaemonSet controller makes a pod for a node.
// It tolerates what the controller adds tolerations for.
func daemonMatches(p *cluster.Pod, n *node) bool {
	if !selects(p, n.labels) {
		return false
	}
	for _, t := range n.taints {
		switch t.Key {
		case corev1.TaintNodeUnschedulable, corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable,
			corev1.TaintNodeMemoryPressure, corev1.TaintNodeDiskPressure, corev1.TaintNodePIDPressure:
			continue
		}
		if t.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(p.Tolerations, t) {
			return false
		}
	}
	return true
}

// newNode is a planned node, as the cheapest of its options.
func (c *checker) newNode(r *plan.NewNode) *node {
	n := &node{name: r.Name, title: "new node " + r.Name, plan: r}
	if pool := c.pools[r.NodePool]; pool != nil {
		n.options = c.optionsOf(pool, r)
		if len(n.options) > 0 {
			c.become(n, pool, n.options[0])
			return n
		}
	}
	n.labels = map[string]string{cluster.LabelHostname: r.Name}
	n.alloc = r.Allocatable.Map()
	return n
}

// become turns a new node into one of its options. Its planned pods stay, its
// daemons are those of the option.
func (c *checker) become(n *node, pool *cluster.NodePool, o option) {
	n.labels = c.labelsOf(n, pool, o)
	n.taints = slices.Clone(pool.Taints)
	n.alloc = o.typ.Allocatable.Map()
	n.limits = map[string]int64{}
	if o.typ.VolumeLimit > 0 {
		n.limits[ebsDriver] = o.typ.VolumeLimit
	}
	pods := slices.DeleteFunc(slices.Clone(n.pods), func(p *cluster.Pod) bool { return p.Owner.Kind == "DaemonSet" })
	n.pods = pods
	n.pods = append(pods, c.daemonsFor(n)...)
}

// labelsOf are the labels that a new node has as one of its options: what the
// plan gives it, the template's, the type's and the offering's, the later ones
// winning.
func (c *checker) labelsOf(n *node, pool *cluster.NodePool, o option) map[string]string {
	out := map[string]string{}
	if n.plan != nil {
		for k, v := range n.plan.Labels {
			if !ofOffering(k) {
				out[k] = v
			}
		}
	}
	maps.Copy(out, pool.Labels)
	maps.Copy(out, o.typ.Labels)
	out[cluster.LabelInstanceType], out[cluster.LabelArch] = o.typ.Name, o.typ.Arch
	if o.typ.OS != "" {
		out[cluster.LabelOS] = o.typ.OS
	}
	out[cluster.LabelZone], out[cluster.LabelCapacityType] = o.off.Zone, o.off.CapacityType
	if o.off.ZoneID != "" {
		out[cluster.LabelZoneID] = o.off.ZoneID
	} else if class := c.classes[pool.NodeClass.Name]; class != nil && class.ZoneIDs[o.off.Zone] != "" {
		out[cluster.LabelZoneID] = class.ZoneIDs[o.off.Zone]
	}
	if c.snap.Region != "" {
		out[cluster.LabelRegion] = c.snap.Region
	}
	if o.off.ReservationID != "" {
		out[cluster.LabelReservationID] = o.off.ReservationID
		out[cluster.LabelReservationType] = o.off.ReservationType
	}
	out[cluster.LabelNodePool] = pool.Name
	out[cluster.LabelNodeClass] = pool.NodeClass.Name
	out[cluster.LabelRegistered], out[cluster.LabelInitialized] = "true", "true"
	out[cluster.LabelHostname] = n.name
	return out
}

// ofOffering tells whether a label follows from the type or the offering, so
// that what the plan says of it holds for its cheapest choice alone.
func ofOffering(key string) bool {
	switch key {
	case cluster.LabelZone, cluster.LabelZoneID, cluster.LabelCapacityType, cluster.LabelInstanceType, cluster.LabelArch, cluster.LabelOS,
		cluster.LabelRegion, cluster.LabelHostname, cluster.LabelWindowsBuild, cluster.LabelReservationID, cluster.LabelReservationType:
		return true
	}
	return strings.HasPrefix(key, "karpenter.k8s.aws/")
}
