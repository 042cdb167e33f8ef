package plan

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// site is a node as the scheduler will see it once the plan is real: one that
// stands and stays, a claim in flight, or a new node.
type site struct {
	name   string
	node   *cluster.Node      // nil unless it stands
	claim  *cluster.NodeClaim // in flight; nil otherwise
	plan   *NewNode           // new; nil otherwise
	choice *choice            // what a new node may be; nil when nothing
	labels map[string]string  // of a node that stands or is in flight
	taints []corev1.Taint
	room   cluster.Resources // allocatable; unset for a new node
	pods   []*cluster.Pod    // that the plan puts here
	bound  []*cluster.Pod    // that run here; read only where the plan adds pods
}

// label reads a label of a node that stands or is in flight, by its old or its
// current name.
func (s *site) label(key string) (string, bool) {
	if v, ok := s.labels[key]; ok {
		return v, true
	}
	key = nodeLabel(key)
	if v, ok := s.labels[key]; ok {
		return v, true
	}
	return s.name, key == cluster.LabelHostname
}

func (s *site) nodeName() string { return s.name }

// ebsZone is the EBS driver's own name for the zone. It is on every node once
// the driver runs there.
const ebsZone = "topology.ebs.csi.aws.com/zone"

// nodeLabel is the label under which nodes carry what a selector calls key.
func nodeLabel(key string) string {
	if key == ebsZone {
		return cluster.LabelZone
	}
	return cluster.NormalLabel(key)
}

// readStanding makes the sites of the nodes that stay and of the claims in
// flight.
func (c *checker) readStanding() {
	c.joinClaims()
	c.siteOf = make(map[string]int32, len(c.snap.Nodes)+len(c.report.NewNodes))
	c.leaving = map[string]bool{}
	c.sites = make([]*site, 0, len(c.snap.Nodes)+len(c.report.NewNodes))
	store := make([]site, len(c.snap.Nodes))
	for i := range c.snap.Nodes {
		n := &c.snap.Nodes[i]
		if c.goesAway(n) {
			c.leaving[n.Name] = true
			continue
		}
		store[i] = c.standing(n)
		c.addSite(&store[i])
	}
	for i := range c.snap.Claims {
		if m := &c.snap.Claims[i]; !m.Deleting && !c.joined[m] {
			c.addSite(c.inFlight(m))
		}
	}
}

func (c *checker) addSite(s *site) {
	c.siteOf[s.name] = int32(len(c.sites))
	c.sites = append(c.sites, s)
}

// joinClaims finds the claim of each node, by the node's name or the instance.
func (c *checker) joinClaims() {
	c.claimOf = make(map[string]*cluster.NodeClaim, len(c.snap.Claims))
	if len(c.snap.Claims) == 0 {
		return
	}
	c.joined = make(map[*cluster.NodeClaim]bool, len(c.snap.Claims))
	there := make(map[string]bool, len(c.snap.Nodes))
	byInstance := make(map[string]string, len(c.snap.Nodes))
	for i := range c.snap.Nodes {
		n := &c.snap.Nodes[i]
		there[n.Name] = true
		if n.ProviderID != "" {
			byInstance[n.ProviderID] = n.Name
		}
	}
	for i := range c.snap.Claims {
		m := &c.snap.Claims[i]
		name, ok := m.NodeName, there[m.NodeName]
		if !ok {
			name, ok = byInstance[m.ProviderID]
		}
		if !ok {
			continue
		}
		c.joined[m] = true
		if c.claimOf[name] == nil {
			c.claimOf[name] = m
		}
	}
}

// goesAway tells whether a node is on its way out: its pods move, and it takes
// none.
func (c *checker) goesAway(n *cluster.Node) bool {
	if n.Deleting {
		return true
	}
	if m := c.claimOf[n.Name]; m != nil && m.Deleting {
		return true
	}
	return slices.ContainsFunc(n.Taints, func(t corev1.Taint) bool { return t.Key == cluster.TaintDisrupted })
}

// defaultMaxPods is the kubelet's own limit, for a node that reports none.
const defaultMaxPods = 110

func (c *checker) standing(n *cluster.Node) site {
	s := site{name: n.Name, node: n, labels: n.Labels, taints: n.Taints, room: n.Allocatable}
	switch {
	case !n.Initialized():
		s.taints, s.room = c.started(n)
	case !n.Ready:
		s.taints = withTaint(s.taints, corev1.TaintNodeNotReady)
	}
	if n.Cordoned {
		s.taints = withTaint(s.taints, corev1.TaintNodeUnschedulable)
	}
	if !s.room.Has(cluster.Pods) {
		s.room = s.room.With(cluster.Pods, defaultMaxPods)
	}
	return s
}

func withTaint(taints []corev1.Taint, key string) []corev1.Taint {
	if slices.ContainsFunc(taints, func(t corev1.Taint) bool { return t.Key == key }) {
		return taints
	}
	return append(slices.Clone(taints), corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
}

// started is what a node that is still starting will be: without the taints of
// its start, and with what its claim promises of the resources that it does not
// report yet.
func (c *checker) started(n *cluster.Node) ([]corev1.Taint, cluster.Resources) {
	var starting []corev1.Taint
	room := n.Allocatable
	if m := c.claimOf[n.Name]; m != nil {
		starting = m.StartupTaints
		room = promised(room, m.Allocatable)
	} else if p := c.pools[n.NodePoolName()]; p != nil {
		starting = p.StartupTaints
	}
	taints := slices.DeleteFunc(slices.Clone(n.Taints), func(t corev1.Taint) bool {
		return passing(t.Key) || slices.ContainsFunc(starting, func(u corev1.Taint) bool { return u.Key == t.Key && u.Effect == t.Effect })
	})
	return taints, room
}

func promised(reported, claimed cluster.Resources) cluster.Resources {
	for _, r := range claimed {
		if reported.Get(r.Name) == 0 {
			reported = reported.With(r.Name, r.Amount)
		}
	}
	return reported
}

// passing tells whether a taint goes away by itself while a node starts.
func passing(key string) bool {
	switch key {
	case corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable, "node.cloudprovider.kubernetes.io/uninitialized", cluster.TaintUnregistered:
		return true
	}
	return strings.HasPrefix(key, "readiness.k8s.io/")
}

// inFlight is a claim whose node has not joined: its labels are those that its
// requirements fix, and those of its type where it is known.
func (c *checker) inFlight(m *cluster.NodeClaim) *site {
	labels := maps.Clone(m.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	for _, r := range m.Requirements {
		if _, set := labels[r.Key]; !set && r.Operator == cluster.In && len(r.Values) == 1 {
			labels[r.Key] = r.Values[0]
		}
	}
	labels[cluster.LabelHostname] = m.Name
	if m.NodePool != "" {
		labels[cluster.LabelNodePool] = m.NodePool
	}
	if t := c.typeOfClaim(m, labels[cluster.LabelInstanceType]); t != nil {
		for k, v := range t.Labels {
			if _, set := labels[k]; !set {
				labels[k] = v
			}
		}
	}
	return &site{name: m.Name, claim: m, labels: labels, taints: m.Taints, room: m.Allocatable}
}

// typeOfClaim finds the type of a claim by its name, nil when it is not known.
func (c *checker) typeOfClaim(m *cluster.NodeClaim, name string) *cluster.InstanceType {
	p := c.pools[m.NodePool]
	if p == nil || name == "" {
		return nil
	}
	types := c.typesOfClass(p.NodeClass.Name)
	for i := range types {
		if types[i].Name == name {
			return &types[i]
		}
	}
	return nil
}

// typesOfClass asks for the types of a class once.
func (c *checker) typesOfClass(name string) []cluster.InstanceType {
	if ts, ok := c.types[name]; ok {
		return ts
	}
	ts := c.in.Types(c.classes[name])
	c.types[name] = ts
	return ts
}
