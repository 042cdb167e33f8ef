package scheduling_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/scheduling"
)

// catalogue is a few families of types in growing sizes, on demand and on spot,
// a little cheaper by the core the larger.
func catalogue() []cluster.InstanceType {
	var out []cluster.InstanceType
	for f, perCore := range []int64{2, 4, 8} {
		for g := range 3 {
			for size, cores := range []int64{2, 4, 8, 16, 32, 48} {
				price := float64(cores) * (0.03 + 0.005*float64(f)) * (1 + 0.02*float64(g)) * (1 - 0.002*float64(size))
				t := machine(fmt.Sprintf("%c%d-%d", 'c'+f, g, cores), cores, cores*perCore, price, spotAt(0.35+0.02*float64(g)), has(cluster.Pods, 110))
				out = append(out, t)
			}
		}
	}
	return out
}

// generic is pods of a dozen sizes without any rule but resources.
func generic(n int) []*cluster.Pod {
	out := make([]*cluster.Pod, n)
	for i := range out {
		out[i] = pod("p"+strconv.Itoa(i), cpu([]int64{100, 250, 500, 1000}[i%4]), asks(cluster.Memory, []int64{256, 1024, 3072}[i%3]<<20))
		out[i].Labels = map[string]string{"app": strconv.Itoa(i % 50)}
	}
	return out
}

// spreadOut is deployments of twenty that spread over zones and mind each other
// on a node.
func spreadOut(n int) []*cluster.Pod {
	out := generic(n)
	for i, p := range out {
		name := strconv.Itoa(i / 20)
		p.Labels = map[string]string{"app": name}
		spreads(name, zone, 1)(p)
		if i/20%2 == 0 {
			apart(name, host)(p)
		}
	}
	return out
}

func BenchmarkSolve(b *testing.B) {
	types := of(catalogue()...)
	standing := make([]any, 0, 1001)
	for i := range 1000 {
		standing = append(standing, node("n"+strconv.Itoa(i), "a", runs(pod("old", cpu(1900)))))
	}
	for _, c := range []struct {
		name  string
		given *scheduling.Problem
	}{
		{"generic/1000", given(pool("default", types), generic(1000))},
		{"generic/5000", given(pool("default", types), generic(5000))},
		{"spread/1000", given(pool("default", types), spreadOut(1000))},
		{"standing/1000", given(append(standing, pool("default", types), generic(1000))...)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var r *scheduling.Result
			for b.Loop() {
				var err error
				if r, err = scheduling.Solve(c.given); err != nil || len(r.Left) > 0 {
					b.Fatal(err, "or pods are left out")
				}
			}
			price := 0.0
			for i := range r.Nodes {
				price += r.Nodes[i].Cheapest.Price
			}
			b.ReportMetric(price/r.LowerBound, "price/bound")
			b.ReportMetric(float64(len(r.Nodes)), "nodes")
		})
	}
}
