package naive

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
)

// world of the tests: three types in two zones, one NodePool, one class.
const gi = int64(1) << 30

type fixture struct {
	snap   cluster.Snapshot
	types  []cluster.InstanceType
	report plan.Report
}

func instanceType(name, arch string, cpu, mem int64, price float64) cluster.InstanceType {
	all := map[string]int64{cluster.CPU: cpu, cluster.Memory: mem, cluster.Pods: 10}
	t := cluster.InstanceType{
		Name: name, Arch: arch, OS: "linux", VolumeLimit: 2,
		Labels:   map[string]string{cluster.LabelInstanceType: name, cluster.LabelArch: arch, cluster.LabelOS: "linux", "karpenter.k8s.aws/instance-cpu": fmt.Sprint(cpu / 1000)},
		Capacity: cluster.ResourcesOf(all), Allocatable: cluster.ResourcesOf(all),
	}
	for _, z := range []string{"a", "b"} {
		t.Offerings = append(t.Offerings,
			cluster.Offering{Zone: z, CapacityType: cluster.OnDemand, Price: price},
			cluster.Offering{Zone: z, CapacityType: cluster.Spot, Price: price / 2})
	}
	return t
}

func newFixture() *fixture {
	return &fixture{
		types: []cluster.InstanceType{instanceType("small", "amd64", 2000, 4*gi, 1), instanceType("arm", "arm64", 2000, 4*gi, 1.2), instanceType("large", "amd64", 8000, 16*gi, 4)},
		snap: cluster.Snapshot{
			NodePools:   []cluster.NodePool{{Name: "default", NodeClass: cluster.NodeClassRef{Name: "class"}}},
			NodeClasses: []cluster.NodeClass{{Name: "class"}},
			Namespaces:  []cluster.Namespace{{Name: "default"}, {Name: "other", Labels: map[string]string{"team": "x"}}},
		},
	}
}

// pod adds a pod that waits, of 500m and 1 GiB, labelled app=name's first letter.
func (f *fixture) pod(name string, change ...func(*cluster.Pod)) *fixture {
	p := cluster.Pod{
		Namespace: "default", Name: name, Labels: map[string]string{"app": name[:1]}, Phase: corev1.PodPending, Unschedulable: true,
		Requests: cluster.ResourcesOf(map[string]int64{cluster.CPU: 500, cluster.Memory: gi}),
	}
	for _, c := range change {
		c(&p)
	}
	f.snap.Pods = append(f.snap.Pods, p)
	return f
}

// stand adds a standing node of the small size in a zone, with pods on it.
func (f *fixture) stand(name, zone string, change ...func(*cluster.Node)) *fixture {
	all := cluster.ResourcesOf(map[string]int64{cluster.CPU: 2000, cluster.Memory: 4 * gi, cluster.Pods: 10})
	n := cluster.Node{
		Name: name, Ready: true, Capacity: all, Allocatable: all,
		Labels: map[string]string{cluster.LabelHostname: name, cluster.LabelZone: zone, cluster.LabelArch: "amd64"},
	}
	for _, c := range change {
		c(&n)
	}
	f.snap.Nodes = append(f.snap.Nodes, n)
	return f
}

// plan adds a new node that may be one type in one zone on demand, with pods.
func (f *fixture) plan(name, typ, zone string, pods ...string) *fixture {
	return f.planAny(name, []string{typ}, []string{zone}, []string{cluster.OnDemand}, pods...)
}

// planAny adds a new node with choices; the cheapest and the sums are right.
func (f *fixture) planAny(name string, types, zones, kinds []string, pods ...string) *fixture {
	n := plan.NewNode{Name: name, NodePool: "default", NodeClass: cluster.NodeClassRef{Name: "class"}, InstanceTypes: types, Zones: zones, CapacityTypes: kinds}
	for _, t := range f.types {
		for _, o := range t.Offerings {
			if slices.Contains(types, t.Name) && slices.Contains(zones, o.Zone) && slices.Contains(kinds, o.CapacityType) && !o.Unavailable && (n.PricePerHour == 0 || o.Price < n.PricePerHour) {
				n.InstanceType, n.Zone, n.CapacityType, n.PricePerHour, n.Allocatable = t.Name, o.Zone, o.CapacityType, o.Price, t.Allocatable
				n.ReservationID = o.ReservationID
			}
		}
	}
	n.Pods = f.placements(pods)
	for _, k := range pods {
		n.Requests = n.Requests.Add(f.find(k).Requests)
	}
	f.report.NewNodes = append(f.report.NewNodes, n)
	return f
}

func (f *fixture) placements(pods []string) []plan.Placement {
	var out []plan.Placement
	for _, p := range pods {
		out = append(out, plan.Placement{Pod: f.find(p).Key()})
	}
	return out
}

func (f *fixture) find(name string) *cluster.Pod {
	for i := range f.snap.Pods {
		if f.snap.Pods[i].Name == name {
			return &f.snap.Pods[i]
		}
	}
	return &cluster.Pod{Namespace: "default", Name: name}
}

// use puts pods on a standing node.
func (f *fixture) use(node string, pods ...string) *fixture {
	f.report.ExistingNodes = append(f.report.ExistingNodes, plan.ExistingNode{Name: node, Pods: f.placements(pods)})
	return f
}

// leave leaves pods out.
func (f *fixture) leave(pods ...string) *fixture {
	for _, p := range pods {
		f.report.Unschedulable = append(f.report.Unschedulable, plan.LeftOut{Pod: f.find(p).Key(), Reasons: []string{"said so"}})
	}
	return f
}

// with changes the fixture as it stands.
func (f *fixture) with(change func(*fixture)) *fixture {
	change(f)
	return f
}

func (f *fixture) pool(change func(*cluster.NodePool)) *fixture {
	change(&f.snap.NodePools[0])
	return f
}

// check completes the summary where the test has not and runs Check.
func (f *fixture) check() []string {
	r := f.report
	if r.Summary == (plan.Summary{}) {
		for _, n := range r.NewNodes {
			r.Summary.PricePerHour += n.PricePerHour
			r.Summary.Scheduled += len(n.Pods)
		}
		for _, n := range r.ExistingNodes {
			r.Summary.Scheduled += len(n.Pods)
		}
		r.Summary.NewNodes = len(r.NewNodes)
		r.Summary.Pods = r.Summary.Scheduled + len(r.Unschedulable)
	}
	return Check(&f.snap, func(string) []cluster.InstanceType { return f.types }, r)
}

// Changes of pods.

func needs(name string, amount int64) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.Requests = p.Requests.With(name, amount) }
}

func selecting(key, value string) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.NodeSelector = map[string]string{key: value} }
}

func tolerating(key string) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		p.Tolerations = append(p.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
	}
}

func on(node string) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.NodeName, p.Phase, p.Unschedulable = node, corev1.PodRunning, false }
}

func labelled(kv map[string]string) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.Labels = maps.Clone(kv) }
}

func in(namespace string) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.Namespace = namespace }
}

func port(n int32) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.HostPorts = append(p.HostPorts, cluster.HostPort{Port: n}) }
}

func app(a string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": a}}
}

func spreading(key string, skew int32, change ...func(*corev1.TopologySpreadConstraint)) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		s := corev1.TopologySpreadConstraint{MaxSkew: skew, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: app(p.Labels["app"])}
		for _, c := range change {
			c(&s)
		}
		p.Spread = append(p.Spread, s)
	}
}

func term1(key, of string, change ...func(*corev1.PodAffinityTerm)) []corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: app(of)}
	for _, c := range change {
		c(&t)
	}
	return []corev1.PodAffinityTerm{t}
}

func near1(key, of string, change ...func(*corev1.PodAffinityTerm)) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		p.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term1(key, of, change...)}}
	}
}

func apart(key, of string, change ...func(*corev1.PodAffinityTerm)) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		p.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term1(key, of, change...)}}
	}
}

func wanting(terms ...[]corev1.NodeSelectorRequirement) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		s := &corev1.NodeSelector{}
		for _, t := range terms {
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchExpressions: t})
		}
		p.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: s}}
	}
}

func req(key string, op corev1.NodeSelectorOperator, values ...string) []corev1.NodeSelectorRequirement {
	return []corev1.NodeSelectorRequirement{{Key: key, Operator: op, Values: values}}
}

func mounting(claim string) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.Volumes = append(p.Volumes, cluster.Volume{Claim: claim}) }
}
