package gen

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

func TestTheSeedDecides(t *testing.T) {
	size := Size{Pods: 20, Nodes: 5, Types: 8, Features: All}
	a, at := Random(7, size)
	b, bt := Random(7, size)
	if d := cmp.Diff(a, b) + cmp.Diff(at, bt); d != "" {
		t.Errorf("one seed gave two clusters:\n%s", d)
	}
	for _, k := range Kinds {
		if d := cmp.Diff(Workload(k, 100, 3), Workload(k, 100, 3)); d != "" {
			t.Errorf("%s: one seed gave two workloads:\n%s", k, d)
		}
	}
}

// TestEverythingOccurs holds the generator to what its features promise.
func TestEverythingOccurs(t *testing.T) {
	seen := map[string]int{}
	note := func(what string, ok bool) {
		if ok {
			seen[what]++
		} else {
			seen[what] += 0
		}
	}
	for seed := range uint64(100) {
		s, types := Random(seed, Size{Pods: 30, Nodes: 6, Types: 8, Features: All})
		for _, x := range types {
			note("exotic type", x.Exotic)
			for _, o := range x.Offerings {
				note("reserved offering", o.CapacityType == cluster.Reserved && o.ReservationCount > 0)
				note("unavailable offering", o.Unavailable)
			}
		}
		for _, p := range s.Pods {
			note("selector", len(p.NodeSelector) > 0)
			note("port", len(p.HostPorts) > 0)
			note("spread", len(p.Spread) > 0)
			note("volume", len(p.Volumes) > 0)
			note("bound pod", p.NodeName != "")
			note("gated pod", p.Gated)
			note("virtual pod", p.Virtual)
			note("affinity", p.Affinity != nil && p.Affinity.PodAffinity != nil)
			note("anti-affinity", p.Affinity != nil && p.Affinity.PodAntiAffinity != nil)
			note("node affinity", p.Affinity != nil && p.Affinity.NodeAffinity != nil)
			note("toleration", len(p.Tolerations) > 0)
			note("gpu", p.Requests.Get(gpu) > 0)
		}
		for _, p := range s.NodePools {
			note("limit", len(p.Limits) > 0)
			note("weight", p.Weight > 0)
			note("taint", len(p.Taints) > 0)
			note("startup taint", len(p.StartupTaints) > 0)
			for _, r := range p.Requirements {
				note("minValues", r.MinValues > 1)
				note("custom label", r.Key == team)
			}
		}
		for _, n := range s.Nodes {
			note("managed node", n.NodePoolName() != "")
			note("node that is not managed", n.NodePoolName() == "")
			note("node that starts", !n.Initialized())
			note("node that leaves", n.Deleting)
			note("cordoned node", n.Cordoned)
		}
		note("claim in flight", len(s.Claims) > len(s.Nodes))
		note("overlay", len(s.Overlays) > 0)
		note("daemon", len(s.DaemonSets) > 0)
	}
	for what, n := range seen {
		if n == 0 {
			t.Errorf("no %s in a hundred clusters", what)
		}
	}
}

func TestWorkloads(t *testing.T) {
	for _, k := range Kinds {
		pods := Workload(k, 1000, 1)
		if len(pods) != 1000 {
			t.Errorf("%s: %d pods, want 1000", k, len(pods))
		}
		var sum cluster.Resources
		for _, p := range pods {
			sum = sum.Add(p.Requests)
		}
		if sum.Get(cluster.CPU) == 0 || sum.Get(cluster.Memory) == 0 {
			t.Errorf("%s: asks for nothing", k)
		}
	}
}

func TestPermuteKeepsEverything(t *testing.T) {
	s, types := Random(3, Size{Pods: 20, Nodes: 5, Types: 8, Features: All})
	p, pt := Permute(1, s, types)
	if len(p.Pods) != len(s.Pods) || len(p.Nodes) != len(s.Nodes) || len(pt) != len(types) {
		t.Errorf("lost something: %d of %d pods, %d of %d nodes, %d of %d types", len(p.Pods), len(s.Pods), len(p.Nodes), len(s.Nodes), len(pt), len(types))
	}
	if cmp.Equal(p.Pods, s.Pods) {
		t.Error("the pods are in the same order")
	}
}
