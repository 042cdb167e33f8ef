package agreement

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
	"github.com/dovetail-sh/dovetail/internal/planner"
	"github.com/dovetail-sh/dovetail/test/gen"
	"github.com/dovetail-sh/dovetail/test/naive"
)

// sizes are the clusters that are looked at: the seed picks.
var sizes = []gen.Size{
	{Pods: 8, Nodes: 2, Types: 4},
	{Pods: 15, Nodes: 4, Types: 6},
	{Pods: 12, Nodes: 3, Types: 5, Features: gen.All},
}

func seeds(n uint64) uint64 {
	if testing.Short() {
		return n / 10
	}
	return n
}

// TestTheCheckerAgrees puts pods at random on nodes, for better or worse, and
// asks the naive checker and the scheduler the same question of each pod and
// several nodes: would it be admitted there? What one would let pass and the
// other would not is a fault of the checker.
func TestTheCheckerAgrees(t *testing.T) {
	asked, admitted := 0, 0
	for seed := range seeds(400) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			snap, types := gen.Random(seed, sizes[seed%uint64(len(sizes))])
			stage := naive.NewStage(&snap, gen.Catalog(types).Of(&snap), scattered(seed, &snap, types))
			s := newScheduler(t.Context(), t, surroundings(&snap, stage))
			nodes := nodesOf(stage)
			for i, n := range stage.Nodes {
				for _, p := range n.Planned {
					others := everybody(stage, p)
					for _, at := range []int{i, int(seed) % len(stage.Nodes), (i + 1) % len(stage.Nodes)} {
						mine := stage.Refusals(p, at)
						real := s.refuse(t.Context(), pod(p, ""), stage.Nodes[at].Name, nodes, others)
						if asked++; real == "" {
							admitted++
						}
						if (len(mine) == 0) != (real == "") {
							t.Errorf("pod %s on %s: the checker says %q, the scheduler %q", p.Key(), stage.Nodes[at].Name, mine, real)
						}
					}
				}
			}
		})
	}
	t.Logf("%d questions, %d times admitted", asked, admitted)
	if admitted < asked/20 || admitted > asked*19/20 {
		t.Errorf("%d of %d admitted: the questions are too easy", admitted, asked)
	}
}

func nodesOf(stage *naive.Stage) []*corev1.Node {
	var out []*corev1.Node
	for _, n := range stage.Nodes {
		out = append(out, node(n))
	}
	return out
}

// scattered is a report that puts every waiting pod on some node or other.
func scattered(seed uint64, snap *cluster.Snapshot, types []cluster.InstanceType) plan.Report {
	r := rand.New(rand.NewPCG(seed, 0xa9))
	var out plan.Report
	for i := range 1 + r.IntN(4) {
		pool := snap.NodePools[r.IntN(len(snap.NodePools))]
		t := types[r.IntN(len(types))]
		o := t.Offerings[r.IntN(len(t.Offerings))]
		n := plan.NewNode{
			Name: fmt.Sprintf("new-%d", i), NodePool: pool.Name, NodeClass: pool.NodeClass, InstanceType: t.Name, Zone: o.Zone, CapacityType: o.CapacityType, ReservationID: o.ReservationID,
			InstanceTypes: []string{t.Name}, Zones: []string{o.Zone}, CapacityTypes: []string{o.CapacityType},
		}
		if r.IntN(2) == 0 {
			n.Labels = map[string]string{"example.com/team": []string{"red", "green", "blue"}[r.IntN(3)]}
		}
		out.NewNodes = append(out.NewNodes, n)
	}
	for _, n := range snap.Nodes {
		out.ExistingNodes = append(out.ExistingNodes, plan.ExistingNode{Name: n.Name})
	}
	for _, p := range snap.Pods {
		if p.NodeName != "" || !p.Unschedulable || len(p.Problems) > 0 {
			continue
		}
		at := r.IntN(len(out.NewNodes) + len(out.ExistingNodes))
		if at < len(out.NewNodes) {
			out.NewNodes[at].Pods = append(out.NewNodes[at].Pods, plan.Placement{Pod: p.Key()})
		} else {
			e := &out.ExistingNodes[at-len(out.NewNodes)]
			e.Pods = append(e.Pods, plan.Placement{Pod: p.Key()})
		}
	}
	return out
}

// TestTheSchedulerAgrees plans random clusters and asks the scheduler of each pod
// whether its node admits it, with every other pod where it is planned.
func TestTheSchedulerAgrees(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	asked := 0
	for seed := range seeds(400) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			snap, types := gen.Random(seed, sizes[seed%uint64(len(sizes))])
			p, err := planner.Make(planner.Input{Snapshot: &snap, Catalog: gen.Catalog(types), Now: now, Seed: 1, Trigger: "test"})
			if err != nil {
				t.Fatal(err)
			}
			stage := naive.NewStage(&snap, gen.Catalog(types).Of(&snap), p.Report)
			s := newScheduler(t.Context(), t, surroundings(&snap, stage))
			nodes := nodesOf(stage)
			for _, n := range stage.Nodes {
				for _, p := range slices.Clone(n.Planned) {
					asked++
					if why := s.refuse(t.Context(), pod(p, ""), n.Name, nodes, everybody(stage, p)); why != "" {
						t.Errorf("pod %s on %s: %s", p.Key(), n.Name, why)
					}
				}
			}
		})
	}
	t.Logf("%d pods planned", asked)
}
