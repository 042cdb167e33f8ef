package gen

import (
	"fmt"
	"math"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// Kinds are the workloads that Workload makes, in the order in which the
// benchmarks run them.
var Kinds = []string{"generic", "zonespread", "hostspread", "zoneaffinity", "antiaffinity", "diverse", "deployments"}

// Workload makes n waiting pods of a kind:
//
//   - generic: no constraints, thirty request shapes;
//   - zonespread, hostspread: each pod spreads over zones or hosts the pods of
//     one of seven labels, which need not be its own;
//   - zoneaffinity: seven groups, each in one zone;
//   - antiaffinity: each pod on a host of its own;
//   - diverse: a fifth of each of the above;
//   - deployments: heavy-tailed workloads with one shape each, some of which
//     spread, stay apart, or want an architecture, a zone or on-demand capacity.
func Workload(kind string, n int, seed uint64) []cluster.Pod {
	w := &workload{Rand: rand.New(rand.NewPCG(seed, 0x3a11))}
	switch kind {
	case "generic":
		w.generic(n)
	case "zonespread":
		w.spread(n, cluster.LabelZone)
	case "hostspread":
		w.spread(n, cluster.LabelHostname)
	case "zoneaffinity":
		w.zoneAffinity(n)
	case "antiaffinity":
		w.apart(n)
	case "diverse":
		q := n / 5
		w.generic(n - 4*q)
		w.spread(q, cluster.LabelZone)
		w.spread(q, cluster.LabelHostname)
		w.zoneAffinity(q)
		w.apart(q)
	case "deployments":
		w.deployments(n)
	}
	return w.pods
}

// OnePool is a snapshot of waiting pods and one NodePool for Linux nodes of
// every capacity type, or on demand alone.
func OnePool(pods []cluster.Pod, noSpot bool) cluster.Snapshot {
	kinds := []string{cluster.OnDemand}
	if !noSpot {
		kinds = append(kinds, cluster.Spot)
	}
	return cluster.Snapshot{
		Cluster: "bench", Region: "us-east-1", Pods: pods,
		Namespaces:  []cluster.Namespace{{Name: "default"}},
		NodeClasses: []cluster.NodeClass{{Name: "default", AMIFamily: "AL2023"}},
		NodePools: []cluster.NodePool{{
			Name: "default", UID: "default", NodeClass: cluster.NodeClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
			Requirements: []cluster.Requirement{
				{Key: cluster.LabelCapacityType, Operator: cluster.In, Values: kinds},
				{Key: cluster.LabelOS, Operator: cluster.In, Values: []string{"linux"}},
				{Key: awsCategory, Operator: cluster.In, Values: []string{"c", "m", "r"}},
				{Key: awsGeneration, Operator: cluster.Gte, Values: []string{"3"}},
			},
		}},
	}
}

// workload is one run of Workload.
type workload struct {
	*rand.Rand
	pods []cluster.Pod
}

func (w *workload) add(labels map[string]string, cpu, mem int64, change func(*cluster.Pod)) {
	name := fmt.Sprintf("p%06d", len(w.pods))
	p := cluster.Pod{
		Namespace: "default", Name: name, UID: "u" + name, Labels: labels, Phase: corev1.PodPending, Unschedulable: true,
		SchedulerName: "default-scheduler", Requests: cluster.Resources{{Name: cluster.CPU, Amount: cpu}, {Name: cluster.Memory, Amount: mem << 20}},
	}
	if change != nil {
		change(&p)
	}
	w.pods = append(w.pods, p)
}

// letter draws one of seven label values.
func (w *workload) letter() string { return string(rune('a' + w.IntN(7))) }

// draw picks one of a list.
func draw(w *workload, list ...int64) int64 { return list[w.IntN(len(list))] }

// shape draws thousandths of a core and MiB.
func (w *workload) shape() (cpu, mem int64) {
	return draw(w, 100, 250, 500, 1000, 1500), draw(w, 100, 256, 512, 1024, 2048, 4096)
}

func (w *workload) generic(n int) {
	for range n {
		cpu, mem := w.shape()
		w.add(map[string]string{"my-label": w.letter()}, cpu, mem, nil)
	}
}

func (w *workload) spread(n int, key string) {
	for range n {
		cpu, mem := w.shape()
		of := map[string]string{"my-label": w.letter()}
		w.add(map[string]string{"my-label": w.letter()}, cpu, mem, spreadOver(key, 1, of))
	}
}

func spreadOver(key string, skew int32, of map[string]string) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		p.Spread = []corev1.TopologySpreadConstraint{{MaxSkew: skew, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: of}}}
	}
}

func (w *workload) zoneAffinity(n int) {
	for range n {
		cpu, mem := w.shape()
		labels := map[string]string{"my-affinity": w.letter()}
		w.add(labels, cpu, mem, func(p *cluster.Pod) {
			p.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				{TopologyKey: cluster.LabelZone, LabelSelector: &metav1.LabelSelector{MatchLabels: labels}}}}}
		})
	}
}

func (w *workload) apart(n int) {
	labels := map[string]string{"app": "nginx"}
	for range n {
		cpu, mem := w.shape()
		w.add(labels, cpu, mem, hostApart(labels))
	}
}

func hostApart(labels map[string]string) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		p.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: cluster.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: labels}}}}}
	}
}

func (w *workload) deployments(n int) {
	for d := 1; len(w.pods) < n; d++ {
		replicas := min(n-len(w.pods), max(1, int(w.pareto(1.1)*2)))
		labels := map[string]string{"app": fmt.Sprintf("d%d", d)}
		cpu := draw(w, 50, 100, 200, 250, 500, 500, 1000, 1000, 2000, 4000, 8000)
		mem := int64(float64(cpu*draw(w, 1, 2, 2, 4, 4, 8)) * 1.024)
		topology, selector := w.topology(labels, replicas), w.nodeSelector()
		for range replicas {
			w.add(labels, cpu, mem, func(p *cluster.Pod) {
				p.NodeSelector = selector
				if topology != nil {
					topology(p)
				}
			})
		}
	}
}

// pareto draws from a Pareto distribution with a minimum of 1.
func (w *workload) pareto(alpha float64) float64 {
	return math.Min(1e6, math.Pow(1-w.Float64(), -1/alpha))
}

// topology draws the topology rule of a Deployment, nil for more than half.
func (w *workload) topology(labels map[string]string, replicas int) func(*cluster.Pod) {
	switch x := w.Float64(); {
	case x < .30:
		return spreadOver(cluster.LabelZone, 1, labels)
	case x < .40:
		return spreadOver(cluster.LabelHostname, 2, labels)
	case x < .45 && replicas <= 50:
		return hostApart(labels)
	}
	return nil
}

func (w *workload) nodeSelector() map[string]string {
	switch y := w.Float64(); {
	case y < .10:
		return map[string]string{cluster.LabelArch: "arm64"}
	case y < .35:
		return map[string]string{cluster.LabelArch: "amd64"}
	case y < .40:
		return map[string]string{cluster.LabelZone: zones[w.IntN(len(zones))]}
	case y < .45:
		return map[string]string{cluster.LabelCapacityType: cluster.OnDemand}
	}
	return nil
}
