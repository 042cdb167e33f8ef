package scheduling_test

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/scheduling"
)

// This file builds small problems by hand. Pods are of 500m and 1 GiB; types
// come in zones a, b and c on demand; a standing node is like a small type.

const (
	gib  = int64(1) << 30
	gpu  = "nvidia.com/gpu"
	zone = cluster.LabelZone
	host = cluster.LabelHostname
	arch = cluster.LabelArch
	kind = cluster.LabelInstanceType
	paid = cluster.LabelCapacityType
)

// given makes a problem of pods, nodes, pools, storage objects, namespaces and
// options, in any order. Where no pool is given there is the default one.
func given(parts ...any) *scheduling.Problem {
	p := &scheduling.Problem{Volumes: scheduling.Volumes{Claims: map[string]*cluster.PVC{}, PVs: map[string]*cluster.PV{}, Classes: map[string]*cluster.StorageClass{}}}
	for _, part := range parts {
		put(p, part)
	}
	if p.Pools == nil {
		p.Pools = []scheduling.Pool{pool("default")}
	}
	return p
}

func put(p *scheduling.Problem, part any) {
	switch x := part.(type) {
	case *cluster.Pod:
		p.Pods = append(p.Pods, x)
	case []*cluster.Pod:
		p.Pods = append(p.Pods, x...)
	case scheduling.Standing:
		p.Nodes = append(p.Nodes, x)
	case scheduling.Pool:
		p.Pools = append(p.Pools, x)
	case noPool:
		p.Pools = []scheduling.Pool{}
	case cluster.PVC:
		p.Volumes.Claims[x.Namespace+"/"+x.Name] = &x
	case cluster.PV:
		p.Volumes.PVs[x.Name] = &x
	case cluster.StorageClass:
		p.Volumes.Classes[x.Name] = &x
	case cluster.Namespace:
		p.Namespaces = append(p.Namespaces, x)
	case scheduling.Options:
		p.Options = x
	default:
		panic(fmt.Sprintf("a problem has no %T", part))
	}
}

// noPool says that nothing can be launched.
type noPool struct{}

// pod is a pod that is labelled app=<the letters that its name begins with>.
func pod(name string, changes ...func(*cluster.Pod)) *cluster.Pod {
	p := &cluster.Pod{
		Namespace: "default", Name: name, Labels: map[string]string{"app": strings.TrimRight(name, "0123456789")},
		Requests: cluster.ResourcesOf(map[string]int64{cluster.CPU: 500, cluster.Memory: gib}),
	}
	for _, c := range changes {
		c(p)
	}
	return p
}

// pods are n pods alike, name1 and following.
func pods(n int, name string, changes ...func(*cluster.Pod)) []*cluster.Pod {
	out := make([]*cluster.Pod, n)
	for i := range out {
		out[i] = pod(name+strconv.Itoa(i+1), changes...)
	}
	return out
}

func cpu(milli int64) func(*cluster.Pod)   { return asks(cluster.CPU, milli) }
func memory(gi int64) func(*cluster.Pod)   { return asks(cluster.Memory, gi*gib) }
func priority(p int32) func(*cluster.Pod)  { return func(x *cluster.Pod) { x.Priority = p } }
func in(ns string) func(*cluster.Pod)      { return func(x *cluster.Pod) { x.Namespace = ns } }
func deleting() func(*cluster.Pod)         { return func(x *cluster.Pod) { x.Deleting = true } }
func uses(claim string) func(*cluster.Pod) { return volume(cluster.Volume{Claim: claim}) }

func asks(resource string, amount int64) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.Requests = p.Requests.With(resource, amount) }
}

func labelled(k, v string) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		p.Labels = maps.Clone(p.Labels)
		p.Labels[k] = v
	}
}

func selects(k, v string) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		if p.NodeSelector == nil {
			p.NodeSelector = map[string]string{}
		}
		p.NodeSelector[k] = v
	}
}

func volume(v cluster.Volume) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.Volumes = append(p.Volumes, v) }
}

func devices(class string, n int64) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.Devices = append(p.Devices, cluster.DeviceRequest{Class: class, Count: n}) }
}

func port(number int32, protocol corev1.Protocol, ip string) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		p.HostPorts = append(p.HostPorts, cluster.HostPort{IP: ip, Protocol: protocol, Port: number})
	}
}

// tolerates adds a toleration of a key whatever its value and effect.
func tolerates(key string) func(*cluster.Pod) {
	return toleration(corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
}

func toleration(t corev1.Toleration) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.Tolerations = append(p.Tolerations, t) }
}

func affinityOf(p *cluster.Pod) *corev1.Affinity {
	if p.Affinity == nil {
		p.Affinity = &corev1.Affinity{}
	}
	return p.Affinity
}

func nodeAffinityOf(p *cluster.Pod) *corev1.NodeAffinity {
	a := affinityOf(p)
	if a.NodeAffinity == nil {
		a.NodeAffinity = &corev1.NodeAffinity{}
	}
	return a.NodeAffinity
}

// exprs is one term of node affinity.
type exprs []corev1.NodeSelectorRequirement

func expr(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
}

// wants is required node affinity: one of the terms.
func wants(terms ...exprs) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		nodeAffinityOf(p).RequiredDuringSchedulingIgnoredDuringExecution = selector(terms...)
	}
}

func selector(terms ...exprs) *corev1.NodeSelector {
	s := &corev1.NodeSelector{}
	for _, t := range terms {
		s.NodeSelectorTerms = append(s.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchExpressions: t})
	}
	return s
}

// prefers adds a preferred term of node affinity.
func prefers(weight int32, t ...corev1.NodeSelectorRequirement) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		n := nodeAffinityOf(p)
		n.PreferredDuringSchedulingIgnoredDuringExecution = append(n.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: weight, Preference: corev1.NodeSelectorTerm{MatchExpressions: t}})
	}
}

func app(name string) *cluster.Selector {
	return &cluster.Selector{MatchLabels: map[string]string{"app": name}}
}

// spreads adds a hard spread of the pods of an app.
func spreads(name, key string, maxSkew int32, changes ...func(*corev1.TopologySpreadConstraint)) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		c := corev1.TopologySpreadConstraint{MaxSkew: maxSkew, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: app(name)}
		for _, f := range changes {
			f(&c)
		}
		p.Spread = append(p.Spread, c)
	}
}

func anyway(c *corev1.TopologySpreadConstraint) { c.WhenUnsatisfiable = corev1.ScheduleAnyway }

func minDomains(n int32) func(*corev1.TopologySpreadConstraint) {
	return func(c *corev1.TopologySpreadConstraint) { c.MinDomains = &n }
}

func affinityPolicy(p corev1.NodeInclusionPolicy) func(*corev1.TopologySpreadConstraint) {
	return func(c *corev1.TopologySpreadConstraint) { c.NodeAffinityPolicy = &p }
}

func taintsPolicy(p corev1.NodeInclusionPolicy) func(*corev1.TopologySpreadConstraint) {
	return func(c *corev1.TopologySpreadConstraint) { c.NodeTaintsPolicy = &p }
}

// podTerm is a term about the pods of an app in the pod's own namespace.
func podTerm(name, key string, changes ...func(*corev1.PodAffinityTerm)) corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{LabelSelector: app(name), TopologyKey: key}
	for _, f := range changes {
		f(&t)
	}
	return t
}

func namespaces(names ...string) func(*corev1.PodAffinityTerm) {
	return func(t *corev1.PodAffinityTerm) { t.Namespaces = names }
}

func namespacesWith(s metav1.LabelSelector) func(*corev1.PodAffinityTerm) {
	return func(t *corev1.PodAffinityTerm) { t.NamespaceSelector = &s }
}

// near is required affinity to the pods of an app, apart is required anti-affinity.
func near(name, key string, changes ...func(*corev1.PodAffinityTerm)) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		a := affinityOf(p)
		if a.PodAffinity == nil {
			a.PodAffinity = &corev1.PodAffinity{}
		}
		a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, podTerm(name, key, changes...))
	}
}

func apart(name, key string, changes ...func(*corev1.PodAffinityTerm)) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		a := affinityOf(p)
		if a.PodAntiAffinity == nil {
			a.PodAntiAffinity = &corev1.PodAntiAffinity{}
		}
		a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, podTerm(name, key, changes...))
	}
}

func ratherNear(weight int32, name, key string) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		affinityOf(p).PodAffinity = &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: weight, PodAffinityTerm: podTerm(name, key)}}}
	}
}

func ratherApart(weight int32, name, key string) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		affinityOf(p).PodAntiAffinity = &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: weight, PodAffinityTerm: podTerm(name, key)}}}
	}
}
