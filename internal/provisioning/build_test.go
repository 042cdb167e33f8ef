package provisioning_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
	"github.com/dovetail-sh/dovetail/internal/provisioning"
	"github.com/dovetail-sh/dovetail/test/naive"
)

// This file builds small snapshots by hand. Pods are of 500m and 1 GiB and wait;
// there are small, medium and large types in zones a and b on demand and, at
// half the price, on spot; nodes are like a small type and belong to the default
// NodePool, and have started.

const (
	gib  = int64(1) << 30
	zone = cluster.LabelZone
	gpu  = "nvidia.com/gpu"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// scene is a snapshot with the types and the settings to plan it by.
type scene struct {
	snap    cluster.Snapshot
	types   map[string][]cluster.InstanceType // by node class
	options provisioning.Options
	// unchecked scenes are about what the naive checker does not know.
	unchecked bool
}

// given makes a scene of objects in any order. Where no NodePool is given there
// is the default one.
func given(parts ...any) *scene {
	s := &scene{types: map[string][]cluster.InstanceType{"class": sizes()}}
	s.snap.NodeClasses = []cluster.NodeClass{{Name: "class"}}
	s.snap.Namespaces = []cluster.Namespace{{Name: "default"}, {Name: "kube-system"}}
	none := false
	for _, part := range parts {
		if _, ok := part.(noPool); ok {
			none = true
			continue
		}
		s.put(part)
	}
	if len(s.snap.NodePools) == 0 && !none {
		s.put(pool("default"))
	}
	return s
}

type noPool struct{}

type unchecked struct{}

// classTypes are the types of a node class.
type classTypes struct {
	class string
	types []cluster.InstanceType
}

func (s *scene) put(part any) {
	switch x := part.(type) {
	case cluster.Pod:
		s.snap.Pods = append(s.snap.Pods, x)
	case []cluster.Pod:
		s.snap.Pods = append(s.snap.Pods, x...)
	case cluster.Node:
		s.snap.Nodes = append(s.snap.Nodes, x)
	case cluster.NodeClaim:
		s.snap.Claims = append(s.snap.Claims, x)
	case cluster.NodePool:
		s.snap.NodePools = append(s.snap.NodePools, x)
	case cluster.NodeOverlay:
		s.snap.Overlays = append(s.snap.Overlays, x)
	case cluster.DaemonSet:
		s.snap.DaemonSets = append(s.snap.DaemonSets, x)
	case cluster.PVC:
		s.snap.PVCs = append(s.snap.PVCs, x)
	case classTypes:
		s.types[x.class] = x.types
		if x.class != "class" {
			s.snap.NodeClasses = append(s.snap.NodeClasses, cluster.NodeClass{Name: x.class})
		}
	case provisioning.Options:
		s.options = x
	case unchecked:
		s.unchecked = true
	default:
		panic(fmt.Sprintf("a scene has no %T", part))
	}
}

func (s *scene) typesOf(class *cluster.NodeClass) []cluster.InstanceType {
	if class == nil {
		return sizes()
	}
	return s.types[class.Name]
}

// decide plans a scene. It holds of every plan that the naive checker has nothing
// to say against it, that the order of the lists does not matter and that the
// snapshot is as it was.
func decide(t *testing.T, s *scene) plan.Proposal {
	t.Helper()
	before := s.snap
	before.Pods, before.Nodes = slices.Clone(s.snap.Pods), slices.Clone(s.snap.Nodes)
	prop := s.decide(t)
	if diff := cmp.Diff(before, s.snap); diff != "" {
		t.Errorf("the snapshot has changed:\n%s", diff)
	}
	back := *s
	back.snap.Pods, back.snap.Nodes, back.snap.Claims = turned(s.snap.Pods), turned(s.snap.Nodes), turned(s.snap.Claims)
	back.snap.NodePools, back.snap.DaemonSets, back.snap.Overlays = turned(s.snap.NodePools), turned(s.snap.DaemonSets), turned(s.snap.Overlays)
	if diff := cmp.Diff(prop, back.decide(t)); diff != "" {
		t.Errorf("the lists the other way round, and the proposal is another:\n%s", diff)
	}
	if !s.unchecked {
		byName := func(class string) []cluster.InstanceType { return s.typesOf(&cluster.NodeClass{Name: class}) }
		for _, wrong := range naive.Check(&s.snap, byName, prop.Report) {
			t.Errorf("the plan is not valid: %s", wrong)
		}
	}
	return prop
}

func (s *scene) decide(t *testing.T) plan.Proposal {
	t.Helper()
	prop, err := provisioning.Decide(provisioning.Input{Snapshot: &s.snap, Types: s.typesOf, Now: now, Trigger: "event", Options: s.options})
	if err != nil {
		t.Fatal(err)
	}
	return prop
}

func turned[T any](in []T) []T {
	out := slices.Clone(in)
	slices.Reverse(out)
	return out
}

// rule is a rule, a scene in which it decides, and where the pods go: pod:place,
// "new" being a new node and "-" nowhere; a pod that is not in the report at all
// is not in the list.
type rule struct {
	name  string
	given *scene
	want  string
}

func check(t *testing.T, rules []rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			if got := where(decide(t, r.given)); got != r.want {
				t.Errorf("got  %q\nwant %q", got, r.want)
			}
		})
	}
}

func where(p plan.Proposal) string {
	return places(p, func(*plan.NewNode) string { return "new" })
}

func places(p plan.Proposal, of func(*plan.NewNode) string) string {
	var out []string
	add := func(pod, place string) { out = append(out, strings.TrimPrefix(pod, "default/")+":"+place) }
	for i := range p.Report.NewNodes {
		for _, pl := range p.Report.NewNodes[i].Pods {
			add(pl.Pod, of(&p.Report.NewNodes[i]))
		}
	}
	for _, n := range p.Report.ExistingNodes {
		for _, pl := range n.Pods {
			add(pl.Pod, n.Name)
		}
	}
	for _, l := range p.Report.Unschedulable {
		add(l.Pod, "-")
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func res(pairs ...any) cluster.Resources {
	m := map[string]int64{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = int64(pairs[i+1].(int))
	}
	return cluster.ResourcesOf(m)
}

func pod(name string, changes ...func(*cluster.Pod)) cluster.Pod {
	p := cluster.Pod{
		Namespace: "default", Name: name, Labels: map[string]string{"app": name}, Phase: corev1.PodPending, Unschedulable: true,
		Owner: cluster.Owner{Kind: "ReplicaSet", Name: "rs"}, Requests: cluster.ResourcesOf(map[string]int64{cluster.CPU: 500, cluster.Memory: gib}),
	}
	for _, c := range changes {
		c(&p)
	}
	return p
}

// running is a pod that is bound to a node.
func running(name, node string, changes ...func(*cluster.Pod)) cluster.Pod {
	return pod(name, append([]func(*cluster.Pod){func(p *cluster.Pod) {
		p.NodeName, p.Phase, p.Unschedulable = node, corev1.PodRunning, false
	}}, changes...)...)
}

func cpu(milli int64) func(*cluster.Pod) { return asks(cluster.CPU, milli) }

func asks(resource string, amount int64) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.Requests = p.Requests.With(resource, amount) }
}

func ownedBy(kind, name string) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.Owner = cluster.Owner{Kind: kind, Name: name} }
}

func selects(k, v string) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.NodeSelector = map[string]string{k: v} }
}

func wants(key string, op corev1.NodeSelectorOperator, values ...string) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		p.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}}}}}}}
	}
}

// apart is anti-affinity over zones against the pods of an app.
func apart(app string) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		p.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: zone, LabelSelector: &cluster.Selector{MatchLabels: map[string]string{"app": app}}}}}}
	}
}

func tolerates(key string) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		p.Tolerations = append(p.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
	}
}

func machine(name string, cores, gi int64, price float64, changes ...func(*cluster.InstanceType)) cluster.InstanceType {
	all := cluster.ResourcesOf(map[string]int64{cluster.CPU: cores * 1000, cluster.Memory: gi * gib, cluster.Pods: 20})
	t := cluster.InstanceType{
		Name: name, Arch: "amd64", OS: "linux", VolumeLimit: 20, Capacity: all, Allocatable: all,
		Labels: map[string]string{cluster.LabelInstanceType: name, cluster.LabelArch: "amd64", cluster.LabelOS: "linux"},
	}
	for _, z := range []string{"a", "b"} {
		t.Offerings = append(t.Offerings,
			cluster.Offering{Zone: z, CapacityType: cluster.OnDemand, Price: price},
			cluster.Offering{Zone: z, CapacityType: cluster.Spot, Price: price / 2, Estimate: true})
	}
	for _, c := range changes {
		c(&t)
	}
	return t
}

func sizes() []cluster.InstanceType {
	return []cluster.InstanceType{machine("large", 8, 32, 4), machine("medium", 4, 16, 2), machine("small", 2, 8, 1)}
}

func pool(name string, changes ...func(*cluster.NodePool)) cluster.NodePool {
	p := cluster.NodePool{Name: name, Hash: "hash-of-" + name, NodeClass: cluster.NodeClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "class"}}
	for _, c := range changes {
		c(&p)
	}
	return p
}

func limited(name string, n int64) func(*cluster.NodePool) {
	return func(p *cluster.NodePool) { p.Limits = p.Limits.With(name, n) }
}

func startup(key string) func(*cluster.NodePool) {
	return func(p *cluster.NodePool) {
		p.StartupTaints = append(p.StartupTaints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	}
}

// node is a node of the default NodePool in zone a.
func node(name string, changes ...func(*cluster.Node)) cluster.Node {
	all := cluster.ResourcesOf(map[string]int64{cluster.CPU: 2000, cluster.Memory: 8 * gib, cluster.Pods: 20})
	n := cluster.Node{
		Name: name, UID: "uid-" + name, ProviderID: "aws:///a/i-" + name, Ready: true, Capacity: all, Allocatable: all,
		Labels: map[string]string{cluster.LabelHostname: name, zone: "a", cluster.LabelArch: "amd64", cluster.LabelOS: "linux", cluster.LabelInstanceType: "small",
			cluster.LabelCapacityType: cluster.OnDemand, cluster.LabelNodePool: "default", cluster.LabelNodeClass: "class", cluster.LabelRegistered: "true", cluster.LabelInitialized: "true"},
	}
	for _, c := range changes {
		c(&n)
	}
	return n
}

func unmanaged(n *cluster.Node) {
	maps.DeleteFunc(n.Labels, func(k, _ string) bool { return strings.HasPrefix(k, "karpenter") })
}
func starting(n *cluster.Node) { delete(n.Labels, cluster.LabelInitialized) }
func unready(n *cluster.Node)  { n.Ready = false }
func cordoned(n *cluster.Node) { n.Cordoned = true }
func leaving(n *cluster.Node)  { n.Deleting = true }

func taint(key string) func(*cluster.Node) {
	return func(n *cluster.Node) {
		n.Taints = append(n.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	}
}

// claim is a claim of the default NodePool for a small node in zone a.
func claim(name string, changes ...func(*cluster.NodeClaim)) cluster.NodeClaim {
	all := cluster.ResourcesOf(map[string]int64{cluster.CPU: 2000, cluster.Memory: 8 * gib, cluster.Pods: 20})
	c := cluster.NodeClaim{
		Name: name, NodePool: "default", NodeClass: cluster.NodeClassRef{Name: "class"}, Launched: true, Capacity: all, Allocatable: all,
		Labels: map[string]string{cluster.LabelNodePool: "default", cluster.LabelInstanceType: "small", cluster.LabelCapacityType: cluster.OnDemand, zone: "a", cluster.LabelArch: "amd64", cluster.LabelOS: "linux"},
	}
	for _, f := range changes {
		f(&c)
	}
	return c
}

// of ties a claim to a node.
func of(node string) func(*cluster.NodeClaim) {
	return func(c *cluster.NodeClaim) {
		c.NodeName, c.ProviderID, c.Registered = node, "aws:///a/i-"+node, true
	}
}

func daemonSet(name string, changes ...func(*cluster.Pod)) cluster.DaemonSet {
	d := cluster.DaemonSet{Namespace: "kube-system", Name: name, Template: pod("", changes...)}
	d.Template.Namespace, d.Template.Labels, d.Template.Owner, d.Template.Unschedulable = "kube-system", map[string]string{"app": name}, cluster.Owner{Kind: "DaemonSet", Name: name}, false
	return d
}

// runningDaemon is a DaemonSet's pod on a node.
func runningDaemon(name, node string) cluster.Pod {
	return running(name+"-"+node, node, ownedBy("DaemonSet", name), func(p *cluster.Pod) { p.Namespace = "kube-system" })
}
