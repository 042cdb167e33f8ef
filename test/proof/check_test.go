package proof

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/catalog"
	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
	"github.com/dovetail-sh/dovetail/internal/planner"
	"github.com/dovetail-sh/dovetail/test/gen"
	"github.com/dovetail-sh/dovetail/test/naive"
)

// TestCheckersAgree holds plan.Check against the naive checker: on plans as they
// are made, on plans that were changed afterwards, and on plans for clusters that
// were. What one refuses as invalid, so does the other.
//
// One difference is allowed. Of nodes that may be launched in several places the
// naive checker tries some joint choices and plan.Check finds the worst, so it may
// refuse by a topology rule what the other lets pass. Such plans are listed.
func TestCheckersAgree(t *testing.T) {
	valid, invalid, open := 0, 0, 0
	for seed := range seeds(t, 2000) {
		snap, types := gen.Random(seed, sizeOf(seed))
		p := makePlan(t, &snap, types)
		e := editor{rand.New(rand.NewPCG(seed, 0xed17)), &snap, types, &p}
		if seed%4 > 0 {
			e.edit()
		}
		if seed%5 == 0 {
			e.age()
		}
		pinned := seed%2 == 0
		if pinned {
			e.pin()
		}
		e.settle()
		said := invalidities(&snap, types, p.Report)
		found := refusals(plan.Check(plan.CheckInput{Snapshot: &snap, Proposal: &p, Types: gen.Catalog(types).InstanceTypes}))
		switch {
		case len(said) == 0 && len(found) == 0:
			valid++
		case len(said) > 0 && len(found) > 0:
			invalid++
		case len(said) == 0 && !pinned && !slices.ContainsFunc(found, func(v plan.Violation) bool { return !topological(v.Rule) }):
			open++
			t.Logf("seed %d: refused by plan.Check alone: %v", seed, found)
		default:
			t.Errorf("seed %d: the naive checker says %q, plan.Check %v", seed, said, found)
		}
	}
	t.Logf("%d plans are valid, %d are not, %d for plan.Check alone", valid, invalid, open)
	if valid == 0 || invalid == 0 {
		t.Error("the comparison says nothing")
	}
}

func topological(r plan.Rule) bool {
	return r == plan.RuleSpread || r == plan.RuleAffinity || r == plan.RuleAntiAffinity
}

// beside are the parts of the naive checker's judgement that plan.Check leaves to
// tests, since they are about how good a plan is, what it says of itself, or one
// order of binding out of many.
var beside = []string{"is left out and could be placed", "in its way", "lower bound", "no order", "are not in the order of their price"}

func invalidities(snap *cluster.Snapshot, types []cluster.InstanceType, r plan.Report) []string {
	return slices.DeleteFunc(naive.Check(snap, gen.Catalog(types).Of(snap), r), func(s string) bool {
		return slices.ContainsFunc(beside, func(b string) bool { return strings.Contains(s, b) })
	})
}

// refusals are the violations of an error of plan.Check that the naive checker
// knows of too: it looks at the report alone.
func refusals(err error) []plan.Violation {
	return slices.DeleteFunc(violations(err), func(v plan.Violation) bool { return v.Rule == plan.RuleRecords || v.Rule == plan.RuleOrder })
}

func violations(err error) []plan.Violation {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return nil
	}
	var out []plan.Violation
	for _, e := range joined.Unwrap() {
		var v plan.Violation
		if errors.As(e, &v) {
			out = append(out, v)
		}
	}
	return out
}

// editor changes plans and clusters.
type editor struct {
	*rand.Rand
	snap  *cluster.Snapshot
	types []cluster.InstanceType
	p     *plan.Proposal
}

func one[T any](e *editor, list ...T) T { return list[e.IntN(len(list))] }

// edit changes one thing in a plan, which may be wrong then.
func (e *editor) edit() {
	r := &e.p.Report
	if len(r.NewNodes) == 0 {
		return
	}
	n := &r.NewNodes[e.IntN(len(r.NewNodes))]
	switch e.IntN(6) {
	case 0, 1:
		if len(n.Pods) > 1 {
			k := e.IntN(len(n.Pods))
			pod := n.Pods[k]
			n.Pods = slices.Delete(slices.Clone(n.Pods), k, k+1)
			e.give(pod)
		}
	case 2:
		n.Zones = with(n.Zones, one(e, "us-east-1a", "us-east-1b", "us-east-1c"))
	case 3:
		n.InstanceTypes = with(n.InstanceTypes, one(e, e.types...).Name)
	case 4:
		n.CapacityTypes = with(n.CapacityTypes, one(e, cluster.Spot, cluster.OnDemand))
	case 5:
		if len(r.Unschedulable) > 0 {
			k := e.IntN(len(r.Unschedulable))
			pod := plan.Placement{Pod: r.Unschedulable[k].Pod}
			r.Unschedulable = slices.Delete(slices.Clone(r.Unschedulable), k, k+1)
			e.give(pod)
		}
	}
}

// give puts a pod on some node of the plan.
func (e *editor) give(pod plan.Placement) {
	r := &e.p.Report
	if len(r.ExistingNodes) > 0 && e.IntN(2) == 0 {
		n := &r.ExistingNodes[e.IntN(len(r.ExistingNodes))]
		n.Pods = append(slices.Clone(n.Pods), pod)
		return
	}
	n := &r.NewNodes[e.IntN(len(r.NewNodes))]
	n.Pods = append(slices.Clone(n.Pods), pod)
}

func with(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(slices.Clone(list), s)
}

// pin leaves each new node the choice that the report names.
func (e *editor) pin() {
	for i := range e.p.Report.NewNodes {
		n := &e.p.Report.NewNodes[i]
		n.InstanceTypes, n.Zones, n.CapacityTypes = []string{n.InstanceType}, []string{n.Zone}, []string{n.CapacityType}
	}
}

// age changes one thing in the cluster after the plan was made.
func (e *editor) age() {
	if len(e.snap.Nodes) > 0 && e.IntN(3) == 0 {
		n := &e.snap.Nodes[e.IntN(len(e.snap.Nodes))]
		switch e.IntN(3) {
		case 0:
			n.Labels = maps.Clone(n.Labels)
			n.Labels[cluster.LabelZone] = one(e, "us-east-1a", "us-east-1b", "us-east-1c")
		case 1:
			n.Cordoned = true
		case 2:
			n.Deleting = true
		}
		return
	}
	pool, pod, typ := &e.snap.NodePools[e.IntN(len(e.snap.NodePools))], &e.snap.Pods[e.IntN(len(e.snap.Pods))], &e.types[e.IntN(len(e.types))]
	switch e.IntN(9) {
	case 0:
		pool.Limits = pool.Limits.With(cluster.CPU, int64(e.IntN(60000)))
	case 1:
		pool.Taints = append(slices.Clone(pool.Taints), corev1.Taint{Key: "example.com/batch", Effect: corev1.TaintEffectNoSchedule})
	case 2:
		typ.Offerings[e.IntN(len(typ.Offerings))].Unavailable = true
	case 3:
		typ.Allocatable = typ.Allocatable.With(cluster.CPU, typ.Allocatable.Get(cluster.CPU)*2/3)
	case 4:
		pod.Labels = maps.Clone(pod.Labels)
		pod.Labels["app"] = "app-0"
	case 5:
		pod.Tolerations = nil
	case 6:
		e.addDaemon()
	case 7:
		in := corev1.NodeSelectorRequirement{Key: cluster.LabelZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"us-east-1b"}}
		for i := range e.snap.PVs {
			e.snap.PVs[i].NodeAffinity = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{in}}}}
		}
	case 8:
		if len(pod.Spread) > 0 {
			three := int32(3)
			pod.Spread = slices.Clone(pod.Spread)
			pod.Spread[0].MaxSkew, pod.Spread[0].MinDomains = 1, &three
		}
	}
}

// addDaemon adds a DaemonSet that a workload's topology rules are about, too.
func (e *editor) addDaemon() {
	d := cluster.DaemonSet{Namespace: "default", Name: "late", Template: cluster.Pod{
		Namespace: "default", Labels: map[string]string{"app": "app-0", "tier": "web"}, HostPorts: []cluster.HostPort{{Port: 443}},
		Requests: cluster.ResourcesOf(map[string]int64{cluster.CPU: 500}),
	}}
	if e.IntN(2) == 0 {
		d.Template.NodeSelector = map[string]string{cluster.LabelArch: "amd64"}
	}
	e.snap.DaemonSets = append(e.snap.DaemonSets, d)
}

// settle makes a proposal say the same everywhere, so that what is wrong with it
// is what was changed.
func (e *editor) settle() {
	requests := map[string]cluster.Resources{}
	for i := range e.snap.Pods {
		requests[e.snap.Pods[i].Key()] = e.snap.Pods[i].Requests
	}
	taints := map[string][]corev1.Taint{}
	for i := range e.snap.NodePools {
		taints[e.snap.NodePools[i].Name] = e.snap.NodePools[i].Taints
	}
	r := &e.p.Report
	r.Summary.Scheduled = 0
	for i := range r.NewNodes {
		n := &r.NewNodes[i]
		n.Requests = n.Daemons
		for _, pl := range n.Pods {
			n.Requests = n.Requests.Add(requests[pl.Pod])
		}
		r.Summary.Scheduled += len(n.Pods)
		lists := map[string][]string{cluster.LabelInstanceType: n.InstanceTypes, cluster.LabelZone: n.Zones, cluster.LabelCapacityType: n.CapacityTypes}
		n.Requirements = slices.Clone(n.Requirements)
		for k := range n.Requirements {
			if list, ok := lists[n.Requirements[k].Key]; ok {
				n.Requirements[k].Values = list
			}
		}
		claim := &e.p.Writes[i].Claim
		claim.Requirements, claim.Requests, claim.Taints = n.Requirements, n.Requests, taints[n.NodePool]
	}
	for i := range r.ExistingNodes {
		r.Summary.Scheduled += len(r.ExistingNodes[i].Pods)
	}
	r.Summary.Pods = r.Summary.Scheduled + len(r.Unschedulable)
}

// TestCheckAcceptsWorkloads: plans for the workloads of the benchmarks pass.
func TestCheckAcceptsWorkloads(t *testing.T) {
	c, err := catalog.Embedded("us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range gen.Kinds {
		t.Run(kind, func(t *testing.T) {
			snap := gen.OnePool(gen.Workload(kind, 1000, 1), false)
			p := propose(t, &snap, c)
			if err := plan.Check(plan.CheckInput{Snapshot: &snap, Proposal: &p, Types: c.InstanceTypes}); err != nil {
				t.Error(err)
			}
		})
	}
}

func propose(tb testing.TB, snap *cluster.Snapshot, c planner.Catalog) plan.Proposal {
	tb.Helper()
	p, err := planner.Make(planner.Input{Snapshot: snap, Catalog: c, Now: now, Seed: 1, Trigger: "test"})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// BenchmarkCheck checks plans for 5,000 pods: of each kind of workload, and of a
// kind without topology rules that needs a node for each pod, beside 5,000 nodes
// that stand and run ten pods each.
func BenchmarkCheck(b *testing.B) {
	c, err := catalog.Embedded("us-east-1")
	if err != nil {
		b.Fatal(err)
	}
	run := func(name string, snap cluster.Snapshot) {
		b.Run(name, func(b *testing.B) {
			p := propose(b, &snap, c)
			b.ReportAllocs()
			for b.Loop() {
				if err := plan.Check(plan.CheckInput{Snapshot: &snap, Proposal: &p, Types: c.InstanceTypes}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(p.Report.NewNodes)), "nodes")
		})
	}
	for _, kind := range gen.Kinds {
		run(kind, gen.OnePool(gen.Workload(kind, 5000, 1), false))
	}
	pods := gen.Workload("generic", 5000, 1)
	for i := range pods {
		pods[i].HostPorts = []cluster.HostPort{{Port: 8080}}
	}
	apart := gen.OnePool(pods, false)
	addFullNodes(&apart, 5000)
	run("apart/standing=5000", apart)
	for _, kind := range []string{"generic", "deployments"} {
		snap := gen.OnePool(gen.Workload(kind, 5000, 1), false)
		addFullNodes(&snap, 5000)
		run(kind+"/standing=5000", snap)
	}
}

// addFullNodes adds nodes without room, each with ten running pods.
func addFullNodes(snap *cluster.Snapshot, n int) {
	room := cluster.Resources{{Name: cluster.CPU, Amount: 4000}, {Name: cluster.Memory, Amount: 16 << 30}, {Name: cluster.Pods, Amount: 10}}
	for i := range n {
		name := fmt.Sprintf("standing-%05d", i)
		snap.Nodes = append(snap.Nodes, cluster.Node{Name: name, Ready: true, Capacity: room, Allocatable: room, Labels: map[string]string{
			cluster.LabelHostname: name, cluster.LabelZone: "us-east-1" + string("abc"[i%3]), cluster.LabelArch: "amd64", cluster.LabelOS: "linux",
			cluster.LabelInstanceType: "m5.xlarge", cluster.LabelNodePool: "default", cluster.LabelCapacityType: cluster.OnDemand, cluster.LabelInitialized: "true"}})
		for k := range 10 {
			snap.Pods = append(snap.Pods, cluster.Pod{Namespace: "default", Name: fmt.Sprintf("%s-%d", name, k), NodeName: name, Phase: corev1.PodRunning,
				Labels: map[string]string{"app": fmt.Sprintf("old-%d", i%50)}, Requests: cluster.Resources{{Name: cluster.CPU, Amount: 400}, {Name: cluster.Memory, Amount: 1 << 30}}})
		}
	}
}
