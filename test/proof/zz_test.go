package proof

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/dovetail-sh/dovetail/test/gen"
	"github.com/dovetail-sh/dovetail/test/naive"
)

func TestZZ(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	if err != nil {
		return
	}
	features := []gen.Feature{
		gen.Selectors, gen.Taints, gen.Ports, gen.Spread, gen.Affinity, gen.AntiAffinity, gen.Daemons, gen.Volumes, gen.Standing,
		gen.Selectors | gen.Spread, gen.Spread | gen.AntiAffinity, gen.Selectors | gen.GPUs, gen.Affinity | gen.AntiAffinity, gen.Standing | gen.Spread,
		gen.Selectors | gen.Ports | gen.Daemons | gen.AntiAffinity,
	}
	size := gen.Size{Pods: 2 + int(seed%5), Nodes: 1 + int(seed%2), Types: 3, Features: features[seed%uint64(len(features))]}
	snap, types := gen.Random(seed, size)
	keepPlaceable(&snap, types)
	best, ok := naive.Optimum(&snap, gen.Catalog(types).Of(&snap))
	t.Log(best, ok)
	for i := range snap.Pods {
		p := &snap.Pods[i]
		j, _ := json.Marshal(map[string]any{"aff": p.Affinity, "spread": p.Spread, "sel": p.NodeSelector, "tol": p.Tolerations})
		t.Log(p.Key(), p.NodeName, p.Requests, p.Labels, p.HostPorts, p.Volumes, string(j))
	}
	for _, n := range snap.Nodes {
		t.Log("NODE", n.Name, n.Labels, n.Taints, n.Allocatable)
	}
	for _, n := range snap.NodePools {
		t.Logf("POOL %s w=%d %v %v %v", n.Name, n.Weight, n.Labels, n.Requirements, n.Taints)
	}
	for _, x := range types {
		t.Log(x.Name, x.Arch, x.Allocatable)
		for _, o := range x.Offerings {
			t.Log("   ", o.Zone, o.CapacityType, o.Price, o.Unavailable)
		}
	}
	r := makePlan(t, &snap, types).Report
	for _, n := range r.NewNodes {
		t.Log("NEW", n.InstanceType, n.Zone, n.CapacityType, n.PricePerHour, n.Pods)
	}
	t.Log(r.ExistingNodes, r.Unschedulable)
}
