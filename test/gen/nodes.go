package gen

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// makeNodes draws the nodes that stand, managed and not, and the pods on them.
func (g *generator) makeNodes() {
	if !g.has(Standing) {
		return
	}
	for i := range g.size.Nodes {
		n, claim := g.node(i)
		if claim != nil {
			g.snap.Claims = append(g.snap.Claims, *claim)
		}
		g.fill(&n)
		g.snap.Nodes = append(g.snap.Nodes, n)
	}
}

// node draws a node of a type, and its claim when a NodePool made it.
func (g *generator) node(i int) (cluster.Node, *cluster.NodeClaim) {
	t := pick(g, g.types...)
	o := pick(g, t.Offerings...)
	name := fmt.Sprintf("node-%d", i)
	n := cluster.Node{
		Name: name, UID: "uid-" + name, ProviderID: "aws:///" + o.Zone + "/i-" + name, Ready: true,
		Labels: maps.Clone(t.Labels), Capacity: t.Capacity, Allocatable: t.Allocatable,
	}
	n.Labels[cluster.LabelHostname], n.Labels[cluster.LabelZone], n.Labels[cluster.LabelZoneID], n.Labels[cluster.LabelRegion] = name, o.Zone, o.ZoneID, "us-east-1"
	if g.one(2) {
		n.Labels[team] = pick(g, teams...)
	}
	if g.has(Volumes) {
		n.VolumeLimits = map[string]int64{ebsDriver: t.VolumeLimit}
	}
	switch {
	case g.has(Taints) && g.one(4):
		n.Taints = append(n.Taints, g.taint())
	case g.one(8):
		n.Cordoned = true
	case g.one(10):
		n.Ready = false
	}
	if g.one(3) {
		return n, nil // not managed
	}
	return n, g.manage(&n, t, o)
}

// manage makes a node one of a NodePool's, with a claim.
func (g *generator) manage(n *cluster.Node, t cluster.InstanceType, o cluster.Offering) *cluster.NodeClaim {
	pool := pick(g, g.snap.NodePools...)
	n.Labels[cluster.LabelNodePool], n.Labels[cluster.LabelCapacityType], n.Labels[cluster.LabelNodeClass] = pool.Name, o.CapacityType, pool.NodeClass.Name
	n.Labels[cluster.LabelRegistered], n.Labels[cluster.LabelInitialized] = "true", "true"
	maps.Copy(n.Labels, pool.Labels)
	n.Taints = append(n.Taints, pool.Taints...)
	claim := &cluster.NodeClaim{
		Name: "claim-of-" + n.Name, UID: "uid-claim-of-" + n.Name, NodePool: pool.Name, NodeClass: pool.NodeClass,
		Labels: maps.Clone(n.Labels), Taints: slices.Clone(n.Taints), StartupTaints: pool.StartupTaints,
		ProviderID: n.ProviderID, NodeName: n.Name, Capacity: t.Capacity, Allocatable: t.Allocatable,
		Launched: true, Registered: true, Initialized: true,
	}
	switch {
	case g.has(Claims) && g.one(4):
		g.start(n, claim)
	case g.has(Claims) && g.one(6):
		n.Deleting, claim.Deleting = true, true
		n.Taints = append(n.Taints, corev1.Taint{Key: cluster.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule})
	}
	return claim
}

// start makes a node one that has just joined: startup and ephemeral taints are
// on it, and it does not report all its resources yet.
func (g *generator) start(n *cluster.Node, claim *cluster.NodeClaim) {
	delete(n.Labels, cluster.LabelInitialized)
	claim.Initialized = false
	n.Ready = false
	n.Taints = append(n.Taints, claim.StartupTaints...)
	n.Taints = append(n.Taints, corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
	n.Capacity, n.Allocatable = n.Capacity.Without(gpu), n.Allocatable.Without(gpu)
	if g.one(3) {
		n.Capacity, n.Allocatable = nil, nil
	}
}

// fill binds pods to a node while it has room. They look at resources alone:
// what runs may stand against every other rule, as in a cluster that has lived.
func (g *generator) fill(n *cluster.Node) {
	free := n.Allocatable
	for _, d := range g.snap.DaemonSets {
		if !g.one(3) || !d.Template.Requests.Fits(free) {
			continue
		}
		p := d.Template
		p.Namespace, p.Name, p.UID = d.Namespace, d.Name+"-"+n.Name, "uid-"+d.Name+"-"+n.Name
		p.Owner, p.NodeName, p.Phase = cluster.Owner{Kind: "DaemonSet", Name: d.Name}, n.Name, corev1.PodRunning
		g.snap.Pods = append(g.snap.Pods, p)
		free = free.Sub(p.Requests)
	}
	for range g.IntN(5) {
		p := g.stamp(pick(g, g.groups...))
		if !p.Requests.Fits(free) || len(p.Volumes) > 0 {
			continue
		}
		free = free.Sub(p.Requests)
		p.NodeName, p.Phase, p.Unschedulable = n.Name, corev1.PodRunning, false
		p.Deleting = g.one(12)
		if g.one(12) {
			p.Phase = corev1.PodSucceeded
		}
		g.snap.Pods = append(g.snap.Pods, p)
	}
}

// makeClaims draws claims whose node has not joined.
func (g *generator) makeClaims() {
	if !g.has(Claims) {
		return
	}
	for i := range g.IntN(3) {
		pool, t := pick(g, g.snap.NodePools...), pick(g, g.types...)
		o := pick(g, t.Offerings...)
		c := cluster.NodeClaim{
			Name: fmt.Sprintf("claim-%d", i), UID: fmt.Sprintf("uid-claim-%d", i), NodePool: pool.Name, NodeClass: pool.NodeClass,
			Labels: maps.Clone(t.Labels), Taints: slices.Clone(pool.Taints), StartupTaints: pool.StartupTaints,
			ProviderID: "aws:///" + o.Zone + "/i-claim-" + fmt.Sprint(i), Capacity: t.Capacity, Allocatable: t.Allocatable, Launched: true,
		}
		c.Labels[cluster.LabelZone], c.Labels[cluster.LabelZoneID], c.Labels[cluster.LabelCapacityType] = o.Zone, o.ZoneID, o.CapacityType
		c.Labels[cluster.LabelNodePool], c.Labels[cluster.LabelRegion] = pool.Name, "us-east-1"
		maps.Copy(c.Labels, pool.Labels)
		g.snap.Claims = append(g.snap.Claims, c)
	}
}

// makeDaemons draws DaemonSets.
func (g *generator) makeDaemons() {
	if !g.has(Daemons) {
		return
	}
	for i := range 1 + g.IntN(3) {
		d := cluster.DaemonSet{Namespace: "kube-system", Name: fmt.Sprintf("daemon-%d", i)}
		d.Template = cluster.Pod{
			Namespace: "kube-system", Labels: map[string]string{"daemon": d.Name}, Owner: cluster.Owner{Kind: "DaemonSet", Name: d.Name},
			Requests: cluster.ResourcesOf(map[string]int64{cluster.CPU: int64(50 * (1 + g.IntN(4))), cluster.Memory: int64(64*(1+g.IntN(4))) << 20}),
		}
		if !g.one(3) {
			d.Template.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
		}
		switch g.IntN(5) {
		case 0:
			d.Template.NodeSelector = map[string]string{cluster.LabelArch: "amd64"}
		case 1:
			affinityOf(&d.Template).NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{g.expression()}}}}}
		}
		if g.has(Ports) && g.one(3) {
			d.Template.HostPorts = []cluster.HostPort{{Protocol: corev1.ProtocolTCP, Port: 80}}
		}
		g.snap.DaemonSets = append(g.snap.DaemonSets, d)
	}
}

// makeVolumes draws storage classes, volumes and claims.
func (g *generator) makeVolumes() {
	if !g.has(Volumes) {
		return
	}
	topology := []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: cluster.LabelZone, Values: some(g, zones...)}}}}
	g.snap.StorageClasses = []cluster.StorageClass{
		{Name: "gp3", Provisioner: ebsDriver, Default: true, WaitForConsumer: true},
		{Name: "zonal", Provisioner: ebsDriver, WaitForConsumer: true, AllowedTopologies: topology},
		{Name: "at-once", Provisioner: ebsDriver},
		{Name: "shared", Provisioner: "efs.csi.aws.com", WaitForConsumer: true},
	}
	for i := range 6 {
		pv := cluster.PV{Name: fmt.Sprintf("pv-%d", i), Driver: ebsDriver, StorageClass: "gp3"}
		z := corev1.NodeSelectorRequirement{Key: cluster.LabelZone, Operator: corev1.NodeSelectorOpIn, Values: []string{pick(g, zones...)}}
		pv.NodeAffinity = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{z}}}}
		g.snap.PVs = append(g.snap.PVs, pv)
	}
}

// mount gives a workload a volume. A claim that is bound is shared by the
// workload's pods; the others are templates, one for each pod.
func (g *generator) mount(p *cluster.Pod) {
	if g.one(2) {
		p.Volumes = []cluster.Volume{{Ephemeral: true, StorageClass: pick(g, "", "gp3", "zonal", "shared")}}
		return
	}
	c := cluster.PVC{Namespace: p.Namespace, Name: "data-" + p.Labels["app"], Phase: corev1.ClaimPending}
	class := pick(g, "gp3", "zonal", "zonal", "at-once", "shared")
	c.StorageClass = &class
	switch g.IntN(5) {
	case 0, 1:
		c.VolumeName, c.Phase = pick(g, g.snap.PVs...).Name, corev1.ClaimBound
	case 2:
		c.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	}
	g.snap.PVCs = append(g.snap.PVCs, c)
	p.Volumes = []cluster.Volume{{Claim: c.Name}}
}

// makePods draws the pods that wait, and some that only look as if they did.
func (g *generator) makePods() {
	for range g.size.Pods {
		p := g.stamp(pick(g, g.groups...))
		if g.has(Oddities) && g.one(8) {
			switch g.IntN(5) {
			case 0:
				p.Gated, p.Unschedulable = true, false
			case 1:
				p.NominatedNodeName = "node-0"
			case 2:
				p.Problems = []string{"the PersistentVolumeClaim that it names is not there"}
			case 3:
				p.Virtual = true
			case 4:
				p.Deleting = true
			}
		}
		g.snap.Pods = append(g.snap.Pods, p)
	}
}
