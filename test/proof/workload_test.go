package proof

import (
	"testing"

	"github.com/dovetail-sh/dovetail/internal/catalog"
	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/planner"
	"github.com/dovetail-sh/dovetail/test/gen"
	"github.com/dovetail-sh/dovetail/test/naive"
)

// TestWorkloadsAreValid plans each kind of workload of the benchmarks against the
// embedded catalogue: every pod is placed, and the plan passes the naive checker.
func TestWorkloadsAreValid(t *testing.T) {
	c, err := catalog.Embedded("us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range gen.Kinds {
		t.Run(kind, func(t *testing.T) {
			n := 400
			if testing.Short() {
				n = 100
			}
			snap := gen.OnePool(gen.Workload(kind, n, 1), false)
			p, err := planner.Make(planner.Input{Snapshot: &snap, Catalog: c, Now: now, Seed: 1, Trigger: "test"})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(p.Report.Unschedulable); n > 0 {
				t.Errorf("%d pods are left out, the first is %+v", n, p.Report.Unschedulable[0])
			}
			types := func(string) []cluster.InstanceType { return c.InstanceTypes(&snap.NodeClasses[0]) }
			for _, v := range naive.Check(&snap, types, p.Report) {
				t.Error(v)
			}
		})
	}
}
