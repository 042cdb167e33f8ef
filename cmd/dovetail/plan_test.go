package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// tinyCatalog has two types, so that what a plan has to be is plain.
const tinyCatalog = `[
  {"name": "t1.small", "arch": "amd64", "cpuMilli": 2000, "memoryMiB": 4096, "pods": 10, "overheadCpuMilli": 100, "overheadMemoryMiB": 96,
   "offerings": [{"zone": "us-east-1a", "capacityType": "spot", "price": 0.02}, {"zone": "us-east-1a", "capacityType": "on-demand", "price": 0.05}]},
  {"name": "t1.large", "arch": "amd64", "cpuMilli": 8000, "memoryMiB": 16384, "pods": 40, "overheadCpuMilli": 100, "overheadMemoryMiB": 384,
   "offerings": [{"zone": "us-east-1a", "capacityType": "on-demand", "price": 0.2}, {"zone": "us-east-1b", "capacityType": "on-demand", "price": 0.2}]}
]`

// pendingPod is a pod for which the scheduler found no node.
func pendingPod(name, cpu, more string) string {
	return fmt.Sprintf(`---
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: shop, labels: {app: web}}
spec:
  containers: [{name: c, image: i, resources: {requests: {cpu: %s, memory: 1Gi}}}]
%s
status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}
`, name, cpu, more)
}

// planDocument is the document of `dovetail plan -o json`, with every field that
// other programs count on.
type planDocument struct {
	APIVersion, Kind string
	NewNodes         []struct {
		Name, NodePool, InstanceType, Zone, CapacityType string
		PricePerHour                                     float64
		InstanceTypes, Zones, Pods                       []string
		Requests, Allocatable, Labels                    map[string]string
	}
	ExistingNodes []struct {
		Name string
		Pods []string
	}
	Unschedulable []struct {
		Pod     string
		Reasons []string
	}
	Notes    []string
	Warnings []string
	Summary  struct {
		Pods, Scheduled, NewNodes                                                                  int
		PricePerHour, LowerBoundPerHour, CPUUtilization, MemoryUtilization, SolveSeconds, Reserved float64
	}
}

// planJSON plans and decodes the document.
func planJSON(t *testing.T, stdin string, args ...string) (planDocument, outcome) {
	t.Helper()
	got := command(stdin, append([]string{"plan", "-f", "-", "-o", "json", "--now", "2026-02-03T09:30:00Z"}, args...)...)
	var doc planDocument
	if err := json.Unmarshal([]byte(got.out), &doc); err != nil {
		t.Fatalf("%v in:\n%s%s", err, got.out, got.errors)
	}
	return doc, got
}

// withCatalog writes the tiny catalogue and gives the flag.
func withCatalog(t *testing.T) string {
	t.Helper()
	return "--catalog=" + filepath.Join(tree(t, map[string]string{"catalog.json": tinyCatalog}), "catalog.json")
}

func TestPlanTiny(t *testing.T) {
	input := goodPool + pendingPod("web-0", "500m", "") + pendingPod("web-1", "500m", "") + pendingPod("huge-0", `"64"`, "")
	doc, got := planJSON(t, input, withCatalog(t))
	if got.code != exitOK || got.errors != "" {
		t.Fatalf("exit code %d: %s", got.code, got.errors)
	}
	if doc.APIVersion != "dovetail.sh/v1" || doc.Kind != "Plan" {
		t.Errorf("the document is a %s %s", doc.APIVersion, doc.Kind)
	}
	if len(doc.NewNodes) != 1 {
		t.Fatalf("%d nodes, want 1: %s", len(doc.NewNodes), got.out)
	}
	n := doc.NewNodes[0]
	if n.NodePool != "general" || n.InstanceType != "t1.small" || n.Zone != "us-east-1a" || n.CapacityType != "spot" || n.PricePerHour != 0.02 {
		t.Errorf("the node is %+v, want a t1.small on spot", n)
	}
	if diff := cmp.Diff([]string{"shop/web-0", "shop/web-1"}, slices.Sorted(slices.Values(n.Pods))); diff != "" {
		t.Errorf("its pods. -want +got:\n%s", diff)
	}
	if n.Requests["cpu"] != "1" || n.Requests["memory"] != "2Gi" || n.Allocatable["cpu"] != "1900m" || n.Allocatable["memory"] != "4000Mi" {
		t.Errorf("requests %v of allocatable %v", n.Requests, n.Allocatable)
	}
	if len(doc.Unschedulable) != 1 || doc.Unschedulable[0].Pod != "shop/huge-0" || len(doc.Unschedulable[0].Reasons) == 0 {
		t.Errorf("left out are %+v, want shop/huge-0 with its reasons", doc.Unschedulable)
	}
	if doc.ExistingNodes == nil {
		t.Error("existingNodes is null")
	}
	if s := doc.Summary; s.Pods != 3 || s.Scheduled != 2 || s.NewNodes != 1 || s.PricePerHour != 0.02 || s.LowerBoundPerHour > s.PricePerHour || s.SolveSeconds <= 0 {
		t.Errorf("the summary is %+v", s)
	}
	if len(doc.Notes) != 1 || !strings.Contains(doc.Notes[0], "EC2NodeClass default is not in the input") {
		t.Errorf("notes are %q", doc.Notes)
	}
}

func TestPlanFlags(t *testing.T) {
	catalog := withCatalog(t)
	input := goodPool + pendingPod("web-0", "500m", "")

	doc, _ := planJSON(t, input, catalog, "--no-spot")
	if n := doc.NewNodes[0]; n.CapacityType != "on-demand" || n.PricePerHour != 0.05 {
		t.Errorf("without spot the node is %+v", n)
	}
	if doc, _ = planJSON(t, input, catalog, "--fail-on-unschedulable"); len(doc.Unschedulable) != 0 {
		t.Errorf("left out are %+v", doc.Unschedulable)
	}
	_, got := planJSON(t, input+pendingPod("huge-0", `"64"`, ""), catalog, "--fail-on-unschedulable")
	if got.code != exitLeftOut || !strings.Contains(got.errors, "1 pod left out") {
		t.Errorf("exit code %d and %q with a pod left out", got.code, got.errors)
	}
	two := goodPool + pendingPod("web-0", "1500m", "") + pendingPod("web-1", "1500m", "")
	doc, _ = planJSON(t, two, catalog, "--default-spread", "topology.kubernetes.io/zone:1:hard")
	zones := map[string]bool{}
	for _, n := range doc.NewNodes {
		zones[n.Zone] = true
	}
	if len(zones) != 2 {
		t.Errorf("a default spread over zones put both pods into %v", zones)
	}
}

func TestPlanWithoutANodePool(t *testing.T) {
	doc, _ := planJSON(t, pendingPod("web-0", "500m", ""))
	if len(doc.NewNodes) != 1 || doc.NewNodes[0].NodePool != "default" {
		t.Fatalf("nodes are %+v, want one of the NodePool default", doc.NewNodes)
	}
	if !strings.ContainsAny(doc.NewNodes[0].InstanceType[:1], "cmr") {
		t.Errorf("the type is %s", doc.NewNodes[0].InstanceType)
	}
	if len(doc.Notes) == 0 || !strings.Contains(doc.Notes[0], "no NodePool") {
		t.Errorf("notes are %q, want what was assumed", doc.Notes)
	}
	table := command(pendingPod("web-0", "500m", ""), "plan", "-f", "-")
	if !strings.Contains(table.out, "the input has no NodePool") {
		t.Errorf("the table does not say what was assumed:\n%s", table.out)
	}
}

// TestPlanTakesInstanceTypesOfTheInput plans the one-object form of input, with
// its own types and a node that states no resources.
func TestPlanTakesInstanceTypesOfTheInput(t *testing.T) {
	asJSON := func(text string) json.RawMessage {
		t.Helper()
		out, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	object := map[string]any{
		"instanceTypes": json.RawMessage(tinyCatalog),
		"nodePools":     []json.RawMessage{asJSON(goodPool)},
		"pods":          []json.RawMessage{asJSON(pendingPod("web-0", "500m", "")), asJSON(pendingPod("web-1", `"7"`, ""))},
		"nodes":         []map[string]any{{"name": "n1", "instanceType": "t1.small", "zone": "us-east-1a", "capacityType": "on-demand", "nodePool": "general"}},
	}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	doc, got := planJSON(t, string(text))
	if got.code != exitOK {
		t.Fatalf("exit code %d: %s", got.code, got.errors)
	}
	if len(doc.ExistingNodes) != 1 || doc.ExistingNodes[0].Name != "n1" || len(doc.ExistingNodes[0].Pods) != 1 {
		t.Errorf("standing nodes are %+v, want n1 with one pod", doc.ExistingNodes)
	}
	if len(doc.NewNodes) != 1 || doc.NewNodes[0].InstanceType != "t1.large" {
		t.Errorf("new nodes are %+v, want one t1.large", doc.NewNodes)
	}
}

// TestPlanExample holds the example to what its README says of it.
func TestPlanExample(t *testing.T) {
	example := filepath.Join("..", "..", "examples", "parcel")
	args := []string{"-f", example}
	doc, got := planJSON(t, "", args...)
	if got.code != exitOK {
		t.Fatalf("exit code %d: %s", got.code, got.errors)
	}
	var left []string
	for _, l := range doc.Unschedulable {
		left = append(left, l.Pod)
		if len(l.Reasons) == 0 {
			t.Errorf("%s is left out without a reason", l.Pod)
		}
	}
	slices.Sort(left)
	for i, want := range []string{"billing/archive-import-", "ml/foundation-tune-", "routing/depot-oslo-", "routing/depot-oslo-"} {
		if len(left) != 4 || !strings.HasPrefix(left[i], want) {
			t.Fatalf("left out are %q", left)
		}
	}
	if len(doc.NewNodes) == 0 || len(doc.ExistingNodes) == 0 {
		t.Errorf("%d new nodes, %d standing ones", len(doc.NewNodes), len(doc.ExistingNodes))
	}
	if s := doc.Summary; s.Scheduled != s.Pods-4 || s.PricePerHour < s.LowerBoundPerHour {
		t.Errorf("the summary is %+v", s)
	}
	for _, output := range []string{"table", "wide"} {
		text := command("", "plan", "-f", example, "-o", output)
		if text.code != exitOK || !strings.Contains(text.out, "to launch") || !strings.Contains(text.out, "4 pods left out") {
			t.Errorf("-o %s, exit code %d:\n%s%s", output, text.code, text.out, text.errors)
		}
	}
	told := command("", "plan", "-f", example, "--explain", "ml/foundation-tune")
	if told.code != exitOK || !strings.Contains(told.out, "is left out") || !strings.Contains(told.out, `NodePool "gpu"`) {
		t.Errorf("exit code %d:\n%s%s", told.code, told.out, told.errors)
	}
}

// TestPlanTwiceIsTheSame compares everything but the time that it took.
func TestPlanTwiceIsTheSame(t *testing.T) {
	once := func() string {
		got := command("", "plan", "-f", filepath.Join("..", "..", "examples", "parcel"), "-o", "yaml", "--now", "2026-02-03T09:30:00Z")
		var lines []string
		for line := range strings.Lines(got.out) {
			if !strings.Contains(line, "solveSeconds") && !strings.Contains(line, "allocatedBytes") {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "")
	}
	if diff := cmp.Diff(once(), once()); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
}
