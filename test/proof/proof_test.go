package proof

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
	"github.com/dovetail-sh/dovetail/internal/planner"
	"github.com/dovetail-sh/dovetail/test/gen"
	"github.com/dovetail-sh/dovetail/test/naive"
)

var now = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// sizes are the clusters that the properties are looked at on: the seed picks.
var sizes = []gen.Size{
	{Pods: 4, Nodes: 1, Types: 3},
	{Pods: 12, Nodes: 3, Types: 5},
	{Pods: 30, Nodes: 5, Types: 8},
	{Pods: 12, Nodes: 3, Types: 5, Features: gen.All},
}

func sizeOf(seed uint64) gen.Size { return sizes[seed%uint64(len(sizes))] }

// seeds is how many clusters a property is looked at on.
func seeds(t *testing.T, n uint64) uint64 {
	t.Helper()
	if testing.Short() {
		return n / 20
	}
	return n
}

// makePlan plans a cluster. A panic is a fault of the planner like any other, and
// is reported with its seed.
func makePlan(t *testing.T, snap *cluster.Snapshot, types []cluster.InstanceType) plan.Proposal {
	t.Helper()
	return makePlanWith(t, snap, types, planner.Options{})
}

func makePlanWith(t *testing.T, snap *cluster.Snapshot, types []cluster.InstanceType, o planner.Options) plan.Proposal {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("the planner panicked: %v\n%s", r, debug.Stack())
		}
	}()
	p, err := planner.Make(planner.Input{Snapshot: snap, Catalog: gen.Catalog(types), Now: now, Seed: 1, Trigger: "test", Options: o})
	if err != nil {
		t.Fatalf("Make: %v", err)
	}
	return p
}

// canonical is a report without what is allowed to differ between two runs.
func canonical(t *testing.T, r plan.Report) string {
	t.Helper()
	r.Summary.SolveSeconds = 0
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestPlansAreValid is the first property: what the planner proposes passes the
// naive checker, which knows nothing of how it was found.
func TestPlansAreValid(t *testing.T) {
	for seed := range seeds(t, 3000) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			snap, types := gen.Random(seed, sizeOf(seed))
			r := makePlan(t, &snap, types).Report
			for _, v := range naive.Check(&snap, gen.Catalog(types).Of(&snap), r) {
				t.Error(v)
			}
		})
	}
}

// TestPlansOfManyTypesAreValid is the same where there are hundreds of offerings:
// more than the words of one bit set, which small catalogues never fill.
func TestPlansOfManyTypesAreValid(t *testing.T) {
	for seed := range seeds(t, 120) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			size := gen.Size{Pods: 30, Nodes: 5, Types: 60}
			if seed%2 == 0 {
				size.Features = gen.All
			}
			snap, types := gen.Random(seed, size)
			r := makePlan(t, &snap, types).Report
			for _, v := range naive.Check(&snap, gen.Catalog(types).Of(&snap), r) {
				t.Error(v)
			}
		})
	}
}

// TestOrderDoesNotMatter is the second: lists of a snapshot have no order, so
// none of it may reach the plan; and a plan made twice is the same.
func TestOrderDoesNotMatter(t *testing.T) {
	for seed := range seeds(t, 1000) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			snap, types := gen.Random(seed, sizeOf(seed))
			once := canonical(t, makePlan(t, &snap, types).Report)
			if d := cmp.Diff(once, canonical(t, makePlan(t, &snap, types).Report)); d != "" {
				t.Fatalf("made twice, two plans:\n%s", d)
			}
			for n := range uint64(2) {
				other, otherTypes := gen.Permute(n, snap, types)
				if d := cmp.Diff(once, canonical(t, makePlan(t, &other, otherTypes).Report)); d != "" {
					t.Fatalf("in another order, another plan:\n%s", d)
				}
			}
		})
	}
}

// TestInputIsNotChanged: the snapshot belongs to the caller.
func TestInputIsNotChanged(t *testing.T) {
	for seed := range seeds(t, 200) {
		snap, types := gen.Random(seed, sizeOf(seed))
		before, beforeTypes := gen.Random(seed, sizeOf(seed))
		makePlan(t, &snap, types)
		if d := cmp.Diff(before, snap) + cmp.Diff(beforeTypes, types); d != "" {
			t.Fatalf("seed %d: Make changed its input:\n%s", seed, d)
		}
	}
}

// TestOptionsKeepPlansValid plans with each of the installation's settings: a
// plan without spot buys none, one without preferences keeps every requirement,
// and one for which minValues are a wish leaves no pod out for their sake.
func TestOptionsKeepPlansValid(t *testing.T) {
	for seed := range seeds(t, 900) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			snap, types := gen.Random(seed, sizeOf(seed))
			var o planner.Options
			check, sold := snap, gen.Catalog(types)
			switch seed % 3 {
			case 0:
				o.NoSpot = true
				sold = sold.WithoutSpot()
			case 1:
				o.IgnorePreferences = true
			case 2:
				o.MinValuesBestEffort = true
				check.NodePools = withoutMinValues(snap.NodePools)
			}
			r := makePlanWith(t, &snap, types, o).Report
			for _, v := range naive.Check(&check, sold.Of(&check), r) {
				t.Error(v)
			}
		})
	}
}

func withoutMinValues(pools []cluster.NodePool) []cluster.NodePool {
	out := slices.Clone(pools)
	for i := range out {
		out[i].Requirements = slices.Clone(out[i].Requirements)
		for j := range out[i].Requirements {
			out[i].Requirements[j].MinValues = 0
		}
	}
	return out
}
