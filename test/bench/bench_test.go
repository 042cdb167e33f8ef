package bench

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/catalog"
	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
	"github.com/dovetail-sh/dovetail/internal/planner"
	"github.com/dovetail-sh/dovetail/test/gen"
)

const region = "us-east-1"

var now = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// embedded is the catalogue that the command line uses.
func embedded(b *testing.B) *catalog.Catalog {
	b.Helper()
	c, err := catalog.Embedded(region)
	if err != nil {
		b.Fatal(err)
	}
	// Made once and remembered: how types are derived is not what is measured.
	c.InstanceTypes(&gen.OnePool(nil, false).NodeClasses[0])
	return c
}

func solve(b *testing.B, snap *cluster.Snapshot, c planner.Catalog) plan.Report {
	b.Helper()
	p, err := planner.Make(planner.Input{Snapshot: snap, Catalog: c, Now: now, Seed: 1, Trigger: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	return p.Report
}

// measure plans a snapshot b.N times and reports what came of it.
func measure(b *testing.B, snap *cluster.Snapshot, c planner.Catalog) plan.Report {
	b.Helper()
	var r plan.Report
	b.ReportAllocs()
	for b.Loop() {
		r = solve(b, snap, c)
	}
	waiting := 0
	for i := range snap.Pods {
		if snap.Pods[i].NodeName == "" {
			waiting++
		}
	}
	b.ReportMetric(float64(waiting)*float64(b.N)/b.Elapsed().Seconds(), "pods/s")
	b.ReportMetric(r.Summary.PricePerHour, "$/h")
	b.ReportMetric(float64(len(r.NewNodes)), "nodes")
	b.ReportMetric(float64(len(r.Unschedulable)), "left-out")
	b.ReportMetric(r.Summary.PricePerHour/r.Summary.LowerBoundPerHour, "price/own-bound")
	if median := medianTypes(r); median > 0 {
		b.ReportMetric(median, "types/spot-node")
	}
	return r
}

// medianTypes is how many types a spot node may be launched as, in the median.
func medianTypes(r plan.Report) float64 {
	var n []int
	for _, x := range r.NewNodes {
		if x.CapacityType == cluster.Spot {
			n = append(n, len(x.InstanceTypes))
		}
	}
	if len(n) == 0 {
		return 0
	}
	slices.Sort(n)
	return float64(n[len(n)/2])
}

// against reports the ratios of the price to the bounds of this package.
func against(b *testing.B, r plan.Report, snap *cluster.Snapshot, c planner.Catalog) {
	b.Helper()
	bounds := BoundsOf(snap.Pods, usable(snap, c), snap.DaemonSets)
	b.ReportMetric(r.Summary.PricePerHour/bounds.Fractional, "price/bound")
	b.ReportMetric(r.Summary.PricePerHour/bounds.Apart, "price/apart")
}

// usable is the catalogue as far as the one NodePool of a snapshot lets it be
// used.
func usable(snap *cluster.Snapshot, c planner.Catalog) []cluster.InstanceType {
	pool := &snap.NodePools[0]
	allows := func(key, value string) bool {
		for _, r := range pool.Requirements {
			if r.Key == key && r.Operator == cluster.In && !slices.Contains(r.Values, value) {
				return false
			}
			if r.Key == key && r.Operator == cluster.Gte && number(value) < number(r.Values[0]) {
				return false
			}
		}
		return true
	}
	var out []cluster.InstanceType
	for _, t := range c.InstanceTypes(&snap.NodeClasses[0]) {
		fits := t.OS == "" || allows(cluster.LabelOS, t.OS)
		for _, k := range []string{"karpenter.k8s.aws/instance-category", "karpenter.k8s.aws/instance-generation"} {
			fits = fits && allows(k, t.Labels[k])
		}
		t.Offerings = slices.DeleteFunc(slices.Clone(t.Offerings), func(o cluster.Offering) bool { return !allows(cluster.LabelCapacityType, o.CapacityType) })
		if fits && len(t.Offerings) > 0 {
			out = append(out, t)
		}
	}
	return out
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return -1
	}
	return n
}

// BenchmarkKinds plans the seven kinds with spot allowed.
func BenchmarkKinds(b *testing.B) {
	for _, kind := range gen.Kinds {
		for _, n := range []int{1000, 5000} {
			b.Run(fmt.Sprintf("%s/pods=%d", kind, n), func(b *testing.B) {
				c := embedded(b)
				snap := gen.OnePool(gen.Workload(kind, n, 1), false)
				against(b, measure(b, &snap, c), &snap, c)
			})
		}
	}
}

// BenchmarkNoSpot plans the kinds whose price the README quotes on demand.
func BenchmarkNoSpot(b *testing.B) {
	for _, kind := range []string{"generic", "deployments"} {
		b.Run(kind+"/pods=5000", func(b *testing.B) {
			c := embedded(b)
			snap := gen.OnePool(gen.Workload(kind, 5000, 1), true)
			against(b, measure(b, &snap, c), &snap, c)
		})
	}
}

// BenchmarkDaemons plans with three DaemonSets on every node, which make small
// nodes dearer.
func BenchmarkDaemons(b *testing.B) {
	for _, kind := range []string{"generic", "deployments"} {
		b.Run(kind+"/pods=5000", func(b *testing.B) {
			c := embedded(b)
			snap := gen.OnePool(gen.Workload(kind, 5000, 1), true)
			for i := range 3 {
				snap.DaemonSets = append(snap.DaemonSets, daemonSet(i))
			}
			against(b, measure(b, &snap, c), &snap, c)
		})
	}
}

func daemonSet(i int) cluster.DaemonSet {
	name := fmt.Sprintf("daemon-%d", i)
	return cluster.DaemonSet{Namespace: "kube-system", Name: name, Template: cluster.Pod{
		Namespace: "kube-system", Labels: map[string]string{"daemon": name}, Owner: cluster.Owner{Kind: "DaemonSet", Name: name},
		Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		Requests:    cluster.Resources{{Name: cluster.CPU, Amount: 100}, {Name: cluster.Memory, Amount: 200 << 20}},
	}}
}

// BenchmarkMany plans ten times as many pods.
func BenchmarkMany(b *testing.B) {
	b.Run("deployments/pods=50000", func(b *testing.B) {
		c := embedded(b)
		snap := gen.OnePool(gen.Workload("deployments", 50000, 1), false)
		against(b, measure(b, &snap, c), &snap, c)
	})
}

// BenchmarkStanding plans beside nodes that stand, and says how much longer it
// takes than without them: nodes that are full, and nodes with some room.
func BenchmarkStanding(b *testing.B) {
	for _, room := range []bool{false, true} {
		b.Run(fmt.Sprintf("deployments/pods=5000/nodes=5000/room=%t", room), func(b *testing.B) {
			c := embedded(b)
			alone := gen.OnePool(gen.Workload("deployments", 5000, 1), false)
			beside := alone
			types := usable(&alone, c)
			beside.Nodes, beside.Pods = standing(5000, room, types, alone.Pods)
			without, with := quickest(b, &alone, c), quickest(b, &beside, c)
			measure(b, &beside, c)
			b.ReportMetric(float64((with-without).Microseconds())/1000, "ms-added")
		})
	}
}

// quickest is the best of three.
func quickest(b *testing.B, snap *cluster.Snapshot, c planner.Catalog) time.Duration {
	b.Helper()
	best := time.Hour
	for range 3 {
		start := time.Now()
		solve(b, snap, c)
		best = min(best, time.Since(start))
	}
	return best
}

// standing makes nodes of many types, each with pods of workloads of its own.
func standing(n int, room bool, types []cluster.InstanceType, waiting []cluster.Pod) ([]cluster.Node, []cluster.Pod) {
	r := rand.New(rand.NewPCG(5, 5))
	running := gen.Workload("deployments", 10*n, 9)
	pods := slices.Clone(waiting)
	var nodes []cluster.Node
	for i := range n {
		t := types[r.IntN(len(types))]
		o := t.Offerings[r.IntN(len(t.Offerings))]
		name := fmt.Sprintf("ip-10-%d-%d-%d.ec2.internal", i>>16, i>>8&255, i&255)
		labels := map[string]string{
			cluster.LabelHostname: name, cluster.LabelZone: o.Zone, cluster.LabelZoneID: o.ZoneID, cluster.LabelRegion: region,
			cluster.LabelCapacityType: o.CapacityType, cluster.LabelNodePool: "default", cluster.LabelInitialized: "true", cluster.LabelRegistered: "true",
		}
		for k, v := range t.Labels {
			labels[k] = v
		}
		node := cluster.Node{Name: name, UID: name, ProviderID: "aws:///" + o.Zone + "/i-" + name, Labels: labels, Ready: true, Capacity: t.Capacity, Allocatable: t.Allocatable}
		free := t.Allocatable.Sub(cluster.Resources{{Name: cluster.Pods, Amount: t.Allocatable.Get(cluster.Pods) - 110}})
		for range 10 {
			p := running[len(pods)-len(waiting)]
			p.Name, p.UID = "run-"+p.Name, "run-"+p.UID
			p.Labels = map[string]string{"app": "run-" + p.Labels["app"]}
			p.Spread, p.Affinity, p.NodeSelector = nil, nil, nil
			p.NodeName, p.Phase, p.Unschedulable = name, corev1.PodRunning, false
			p.Requests = cluster.Resources{{Name: cluster.CPU, Amount: free.Get(cluster.CPU) / 10}, {Name: cluster.Memory, Amount: free.Get(cluster.Memory) / 10}}
			if room {
				p.Requests = cluster.Resources{{Name: cluster.CPU, Amount: free.Get(cluster.CPU) / 11}, {Name: cluster.Memory, Amount: free.Get(cluster.Memory) / 11}}
			}
			pods = append(pods, p)
		}
		nodes = append(nodes, node)
	}
	return nodes, pods
}
