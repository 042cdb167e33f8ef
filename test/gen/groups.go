package gen

import (
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// group is what the pods of one workload have in common.
type group struct {
	pod cluster.Pod // without a name
}

// makeGroups draws the workloads that the pods come from.
func (g *generator) makeGroups() {
	n := 1 + g.IntN(max(1, g.size.Pods/3)+1)
	for i := range n {
		g.groups = append(g.groups, group{g.template(i, n)})
	}
}

// template draws one workload of n.
func (g *generator) template(i, n int) cluster.Pod {
	name := fmt.Sprintf("app-%d", i)
	p := cluster.Pod{
		Namespace: pick(g, namespaces...),
		Labels:    map[string]string{"app": name, "tier": pick(g, "web", "db"), revision: pick(g, "1", "2")},
		Owner:     cluster.Owner{Kind: "ReplicaSet", Name: name, UID: "rs-" + name},
		Phase:     corev1.PodPending, Unschedulable: true, SchedulerName: "default-scheduler",
		Requests: g.requests(),
	}
	if g.has(GPUs) && g.one(4) {
		p.Requests = p.Requests.With(gpu, int64(1+g.IntN(2)))
	}
	if g.has(Overlays) && g.one(6) {
		p.Requests = p.Requests.With(dongle, 1)
	}
	if g.has(Selectors) {
		g.selectNodes(&p)
	}
	if g.has(Taints) && g.one(2) {
		p.Tolerations = g.tolerations()
	}
	if g.has(Ports) && g.one(4) {
		p.HostPorts = g.hostPorts()
	}
	if g.has(Spread) && g.one(2) {
		for range 1 + g.IntN(2) {
			p.Spread = append(p.Spread, g.spread(&p, n, corev1.DoNotSchedule))
		}
	}
	if g.has(Affinity) && g.one(3) {
		a := affinityOf(&p)
		a.PodAffinity = &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{g.term(&p, n)}}
	}
	if g.has(AntiAffinity) && g.one(3) {
		a := affinityOf(&p)
		a.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{g.term(&p, n)}}
	}
	if g.has(Preferences) {
		g.prefer(&p, n)
	}
	if g.has(Volumes) && g.one(3) {
		g.mount(&p)
	}
	if g.has(Oddities) {
		p.Priority = int32(g.IntN(3) * 100)
	}
	return p
}

func (g *generator) requests() cluster.Resources {
	cpu := pick(g, int64(50), 100, 250, 500, 900, 1500, 3000, 6000)
	r := map[string]int64{cluster.CPU: cpu, cluster.Memory: cpu * pick(g, int64(1), 2, 4, 8) << 20}
	switch {
	case g.one(15):
		r[cluster.CPU] = 40000
	case g.one(10):
		r = map[string]int64{}
	case g.one(8):
		r[cluster.EphemeralStorage] = int64(1+g.IntN(6)) * gib
	}
	return cluster.ResourcesOf(r)
}

func affinityOf(p *cluster.Pod) *corev1.Affinity {
	if p.Affinity == nil {
		p.Affinity = &corev1.Affinity{}
	}
	return p.Affinity
}

// selectNodes gives a workload a node selector or a required node affinity.
func (g *generator) selectNodes(p *cluster.Pod) {
	switch g.IntN(12) {
	case 0:
		p.NodeSelector = map[string]string{cluster.LabelArch: pick(g, "amd64", "arm64")}
	case 1:
		p.NodeSelector = map[string]string{cluster.LabelZone: pick(g, zones...)}
	case 2:
		p.NodeSelector = map[string]string{cluster.LabelCapacityType: pick(g, cluster.OnDemand, cluster.Spot)}
	case 3:
		p.NodeSelector = map[string]string{team: pick(g, teams...)}
	case 4:
		p.NodeSelector = map[string]string{"beta.kubernetes.io/arch": pick(g, "amd64", "arm64"), cluster.LabelZone: pick(g, zones...)}
	case 5, 6, 7, 8:
		s := &corev1.NodeSelector{}
		for range 1 + g.IntN(2) {
			t := corev1.NodeSelectorTerm{}
			for range 1 + g.IntN(2) {
				t.MatchExpressions = append(t.MatchExpressions, g.expression())
			}
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, t)
		}
		affinityOf(p).NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: s}
	}
}

// expression draws a requirement on nodes, with every operator.
func (g *generator) expression() corev1.NodeSelectorRequirement {
	make := func(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
	}
	in := pick(g, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn)
	switch g.IntN(11) {
	case 0, 1:
		return make(cluster.LabelZone, in, some(g, zones...)...)
	case 2:
		return make(cluster.LabelArch, in, pick(g, "amd64", "arm64"))
	case 3:
		return make(cluster.LabelCapacityType, in, some(g, cluster.OnDemand, cluster.Spot)...)
	case 4:
		return make(awsCPU, corev1.NodeSelectorOpGt, pick(g, "2", "4", "7"))
	case 5:
		return make(awsCPU, corev1.NodeSelectorOpLt, pick(g, "4", "9", "16"))
	case 6:
		return make(team, in, some(g, teams...)...)
	case 7:
		return make(team, pick(g, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist))
	case 8:
		return make(awsFamily, in, some(g, "c5", "m5", "m6g", "r6i")...)
	case 9:
		return make(cluster.LabelInstanceType, in, pick(g, g.types...).Name)
	default:
		return make(awsGPUName, pick(g, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist))
	}
}

func (g *generator) tolerations() []corev1.Toleration {
	switch g.IntN(4) {
	case 0:
		return []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	case 1:
		return []corev1.Toleration{{Key: "example.com/dedicated", Operator: corev1.TolerationOpExists}, {Key: "example.com/batch", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
	case 2:
		return []corev1.Toleration{{Key: "example.com/dedicated", Operator: corev1.TolerationOpEqual, Value: "x"}}
	default:
		return []corev1.Toleration{{Key: "example.com/batch", Value: ""}}
	}
}

func (g *generator) hostPorts() []cluster.HostPort {
	return []cluster.HostPort{{IP: pick(g, "", "0.0.0.0", "10.0.0.1", "10.0.0.2"), Protocol: pick(g, corev1.ProtocolTCP, corev1.ProtocolUDP), Port: pick(g, int32(80), 443)}}
}

// selector draws whose pods a rule is about: mostly the workload's own, else
// another workload's, a tier's, or those that an expression names.
func (g *generator) selector(p *cluster.Pod, n int) *metav1.LabelSelector {
	switch g.IntN(9) {
	case 0:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprintf("app-%d", g.IntN(n))}}
	case 1:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"tier": pick(g, "web", "db")}}
	case 2:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{p.Labels["app"], "app-0"}}}}
	case 3:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"db"}}, {Key: "app", Operator: metav1.LabelSelectorOpExists}}}
	case 4:
		if g.one(4) {
			return nil
		}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": p.Labels["app"]}}
}

func (g *generator) topologyKey() string {
	return pick(g, cluster.LabelZone, cluster.LabelZone, cluster.LabelZone, cluster.LabelHostname, cluster.LabelHostname, cluster.LabelCapacityType, cluster.LabelArch, team, cluster.LabelZoneID)
}

func (g *generator) spread(p *cluster.Pod, n int, when corev1.UnsatisfiableConstraintAction) corev1.TopologySpreadConstraint {
	s := corev1.TopologySpreadConstraint{MaxSkew: int32(1 + g.IntN(2)), TopologyKey: g.topologyKey(), WhenUnsatisfiable: when, LabelSelector: g.selector(p, n)}
	if when == corev1.DoNotSchedule && g.one(4) {
		d := int32(1 + g.IntN(3))
		s.MinDomains = &d
	}
	if g.one(3) {
		v := pick(g, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
		s.NodeAffinityPolicy = &v
	}
	if g.one(3) {
		v := pick(g, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
		s.NodeTaintsPolicy = &v
	}
	if s.LabelSelector != nil && g.one(5) {
		s.LabelSelector = ofRevision(s.LabelSelector, p, metav1.LabelSelectorOpIn)
	}
	return s
}

// ofRevision narrows a selector to the pods of the workload's own revision, or to
// those of others: what matchLabelKeys and mismatchLabelKeys have become by the
// time that a pod is in a snapshot.
func ofRevision(s *metav1.LabelSelector, p *cluster.Pod, op metav1.LabelSelectorOperator) *metav1.LabelSelector {
	s = s.DeepCopy()
	s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{Key: revision, Operator: op, Values: []string{p.Labels[revision]}})
	return s
}

const revision = "pod-template-hash"

func (g *generator) term(p *cluster.Pod, n int) corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{TopologyKey: g.topologyKey(), LabelSelector: g.selector(p, n)}
	switch g.IntN(8) {
	case 0:
		t.Namespaces = some(g, namespaces...)
	case 1:
		t.NamespaceSelector = &metav1.LabelSelector{}
	case 2:
		t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "y"}}
		if g.one(2) {
			t.Namespaces = []string{"default"}
		}
	}
	if t.LabelSelector != nil && g.one(8) {
		t.LabelSelector = ofRevision(t.LabelSelector, p, pick(g, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn))
	}
	return t
}

// prefer gives a workload soft wishes of each kind.
func (g *generator) prefer(p *cluster.Pod, n int) {
	weight := int32(1 + g.IntN(100))
	switch g.IntN(6) {
	case 0:
		a := affinityOf(p)
		if a.NodeAffinity == nil {
			a.NodeAffinity = &corev1.NodeAffinity{}
		}
		a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{{Weight: weight, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{g.expression()}}}}
	case 1:
		a := affinityOf(p)
		if a.PodAffinity == nil {
			a.PodAffinity = &corev1.PodAffinity{}
		}
		a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{{Weight: weight, PodAffinityTerm: g.term(p, n)}}
	case 2:
		a := affinityOf(p)
		if a.PodAntiAffinity == nil {
			a.PodAntiAffinity = &corev1.PodAntiAffinity{}
		}
		a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{{Weight: weight, PodAffinityTerm: g.term(p, n)}}
	case 3:
		p.Spread = append(p.Spread, g.spread(p, n, corev1.ScheduleAnyway))
	}
}

// stamp makes a pod of a workload.
func (g *generator) stamp(k group) cluster.Pod {
	p := k.pod
	g.count++
	p.Name = fmt.Sprintf("%s-%03d", p.Labels["app"], g.count)
	p.UID = fmt.Sprintf("uid-%04d", g.count)
	p.Labels = maps.Clone(p.Labels)
	return p
}
