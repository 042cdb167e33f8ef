package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares output with a file under testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs; after a look at it, go test -update writes it anew. -want +got:\n%s", path, diff)
	}
}

func resources(cpuMilli, memoryMiB, pods int64) cluster.Resources {
	return cluster.ResourcesOf(map[string]int64{cluster.CPU: cpuMilli, cluster.Memory: memoryMiB << 20, cluster.Pods: pods})
}

func placements(namespace string, first, n int) []plan.Placement {
	out := make([]plan.Placement, n)
	for i := range out {
		out[i].Pod = fmt.Sprintf("%s/web-%d", namespace, first+i)
	}
	return out
}

// sample is a small plan with something of everything.
func sample() *result {
	node := func(name, instanceType, zone, capacityType string, price float64, first, pods int) plan.NewNode {
		return plan.NewNode{
			Name: name, NodePool: "general", NodeClass: cluster.NodeClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
			InstanceType: instanceType, Zone: zone, CapacityType: capacityType, PricePerHour: price, Estimate: capacityType == cluster.Spot,
			InstanceTypes: []string{instanceType, "m7g.2xlarge", "r7g.2xlarge"}, Zones: []string{zone, "us-east-1c"}, CapacityTypes: []string{capacityType},
			Labels:   map[string]string{cluster.LabelNodePool: "general"},
			Requests: resources(int64(pods)*500, int64(pods)*900, int64(pods)+2), Daemons: resources(200, 400, 2),
			Allocatable: resources(7910, 14200, 58), Pods: placements("shop", first, pods),
		}
	}
	gpu := node("gpu-00001", "g5.xlarge", "us-east-1a", cluster.OnDemand, 1.006, 90, 1)
	gpu.NodePool = "gpu"
	gpu.Taints = []string{"nvidia.com/gpu=true:NoSchedule"}
	nodes := []plan.NewNode{
		node("general-00001", "c7g.2xlarge", "us-east-1a", cluster.Spot, 0.1138, 0, 15),
		node("general-00002", "c7g.2xlarge", "us-east-1b", cluster.Spot, 0.1101, 15, 9),
		gpu,
		node("general-00003", "c7g.2xlarge", "us-east-1a", cluster.Spot, 0.1138, 24, 14),
	}
	nodes[0].Pods[1].Why = "spread over zones, at most 1 apart: us-east-1a had the fewest (4)"
	return &result{
		report: plan.Report{
			NewNodes: nodes,
			ExistingNodes: []plan.ExistingNode{
				{Name: "ip-10-0-1-17.ec2.internal", NodePool: "general", Pods: placements("api", 0, 3)},
				{Name: "general-x7k2p", NodePool: "general", InFlight: true, Pods: placements("api", 3, 5)},
			},
			Unschedulable: []plan.LeftOut{
				{Pod: "ml/train-0", Reasons: []string{"NodePool gpu: no type with 16 nvidia.com/gpu in zones us-east-1a, us-east-1b", "NodePool general: no type has nvidia.com/gpu"}},
				{Pod: "shop/import-0", Reasons: []string{"PersistentVolumeClaim shop/import-data is not in the input"}},
				{Pod: "ml/train-1", Reasons: []string{"NodePool gpu: no type with 16 nvidia.com/gpu in zones us-east-1a, us-east-1b", "NodePool general: no type has nvidia.com/gpu"}},
			},
			Warnings: []string{"NodePool gpu: limits.cpu 16 leaves room for one more node"},
			Summary: plan.Summary{Pods: 50, Scheduled: 47, NewNodes: 4, PricePerHour: 1.3437, LowerBoundPerHour: 1.3021,
				CPUUtilization: 0.6163, MemoryUtilization: 0.6184, Estimates: true, SolveSeconds: 0.0123},
		},
		notes:     []string{"EC2NodeClass default is not in the input: planned with AL2023"},
		currency:  "USD",
		allocated: 123456,
	}
}

func TestRenderTable(t *testing.T) {
	cases := []struct {
		golden string
		result *result
		look   look
	}{
		{"table.txt", sample(), look{}},
		{"narrow.txt", sample(), look{width: 85}},
		{"wide.txt", sample(), look{wide: true}},
		{"colour.txt", sample(), look{colour: true}},
		{"nothing.txt", &result{}, look{}},
	}
	for _, c := range cases {
		t.Run(c.golden, func(t *testing.T) {
			var b strings.Builder
			if err := renderTable(&b, c.result, c.look); err != nil {
				t.Fatal(err)
			}
			golden(t, c.golden, b.String())
		})
	}
}

func TestTableStaysWithinTheTerminal(t *testing.T) {
	for _, width := range []int{85, 100, 120} {
		var b strings.Builder
		if err := renderTable(&b, sample(), look{width: width}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > width {
				t.Errorf("%d characters in %d columns: %s", n, width, line)
			}
		}
	}
}

func TestLongPlansAreCut(t *testing.T) {
	r := sample()
	for i := range 100 {
		n := r.report.NewNodes[0]
		n.InstanceType = fmt.Sprintf("m%d.large", i)
		r.report.NewNodes = append(r.report.NewNodes, n)
		r.report.ExistingNodes = append(r.report.ExistingNodes, plan.ExistingNode{Name: fmt.Sprintf("n%d", i), Pods: placements("x", i, 1)})
		r.report.Unschedulable = append(r.report.Unschedulable, plan.LeftOut{Pod: fmt.Sprintf("x/p%d", i), Reasons: []string{fmt.Sprintf("reason %d", i)}})
	}
	var b strings.Builder
	if err := renderTable(&b, r, look{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"… and 63 nodes more for $7.1657 an hour", "… and 92 nodes more (-o wide", "… and 90 pods more for other reasons"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
}

func TestPlanDocument(t *testing.T) {
	var asJSON, asYAML strings.Builder
	if err := writePlan(newDocumentWriter("json", &asJSON), sample()); err != nil {
		t.Fatal(err)
	}
	golden(t, "plan.json", asJSON.String())
	if err := writePlan(newDocumentWriter("yaml", &asYAML), sample()); err != nil {
		t.Fatal(err)
	}
	golden(t, "plan.yaml", asYAML.String())

	var fromJSON, fromYAML any
	if err := json.Unmarshal([]byte(asJSON.String()), &fromJSON); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(asYAML.String()), &fromYAML); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fromJSON, fromYAML); diff != "" {
		t.Errorf("YAML says something else than JSON. -json +yaml:\n%s", diff)
	}
}

// TestEmptyPlanDocument checks that lists are there and empty, never null.
func TestEmptyPlanDocument(t *testing.T) {
	for _, format := range []string{"json", "yaml"} {
		var b strings.Builder
		if err := writePlan(newDocumentWriter(format, &b), &result{}); err != nil {
			t.Fatal(err)
		}
		var doc map[string]any
		if err := yaml.Unmarshal([]byte(b.String()), &doc); err != nil {
			t.Fatal(err)
		}
		for _, field := range []string{"newNodes", "existingNodes", "unschedulable", "warnings", "notes"} {
			if l, ok := doc[field].([]any); !ok || len(l) != 0 {
				t.Errorf("%s: %s is %v, want an empty list", format, field, doc[field])
			}
		}
		if strings.Contains(b.String(), "null") {
			t.Errorf("%s holds a null:\n%s", format, b.String())
		}
	}
	b, err := json.Marshal(newNodeDocument(&plan.NewNode{}))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "null") {
		t.Errorf("an empty node holds a null: %s", b)
	}
}

// full is a disk that has no room left.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, fmt.Errorf("no space left") }

func TestWriteErrorsAreReported(t *testing.T) {
	for _, format := range []string{"json", "yaml"} {
		if err := writePlan(newDocumentWriter(format, full{}), sample()); err == nil {
			t.Errorf("%s: a failed write went unnoticed", format)
		}
	}
	if err := renderTable(full{}, sample(), look{}); err == nil {
		t.Error("table: a failed write went unnoticed")
	}
}

func TestBar(t *testing.T) {
	cases := map[float64]string{0: "····", 0.5: "██··", 0.55: "██▎·", 1: "████", 1.7: "████", -1: "····"}
	for share, want := range cases {
		if got := bar(share, 4); got != want {
			t.Errorf("bar(%v) is %q, want %q", share, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	cases := []struct{ got, want string }{
		{thousands(0), "0"}, {thousands(999), "999"}, {thousands(1000), "1,000"}, {thousands(1234567), "1,234,567"}, {thousands(-1234), "-1,234"}, {thousands(-123), "-123"},
		{(look{}).money(0.11381), "$0.1138"}, {(look{}).money(99.5), "$99.5000"}, {(look{}).money(19652.3), "$19,652.30"}, {(look{}).money(100.007), "$100.01"}, {look{currency: "CNY"}.money(2), "CNY 2.0000"},
		{count(1, "node"), "1 node"}, {count(1200, "pod"), "1,200 pods"},
		{duration(0.0001), "under 1 ms"}, {duration(0.0123), "12 ms"}, {duration(1.5), "1.50 s"},
	}
	for _, c := range cases {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// BenchmarkDocument writes a plan of 5,000 nodes with 60 types each.
func BenchmarkDocument(b *testing.B) {
	r := sample()
	n := r.report.NewNodes[0]
	n.InstanceTypes = nil
	for i := range 60 {
		n.InstanceTypes = append(n.InstanceTypes, fmt.Sprintf("m%dg.2xlarge", i))
	}
	r.report.NewNodes = nil
	for range 5000 {
		r.report.NewNodes = append(r.report.NewNodes, n)
	}
	for _, format := range []string{"json", "yaml"} {
		b.Run(format, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if err := writePlan(newDocumentWriter(format, nowhere{}), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// nowhere takes whatever is written.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
