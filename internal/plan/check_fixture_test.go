package plan

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

const (
	zoneA, zoneB, zoneC = "us-east-1a", "us-east-1b", "us-east-1c"
	gib                 = int64(1) << 30
	teamKey             = "example.com/team"
)

// fixture is a small cluster and a plan for it, right unless a test spoils it:
// two types in three zones, a node that stands, a claim in flight, a new node
// with three pods that may be launched as either type anywhere on demand, and a
// pod left out.
type fixture struct {
	snap     cluster.Snapshot
	types    []cluster.InstanceType
	nodes    []NewNode
	existing []ExistingNode
	left     []LeftOut
	spoil    func(*Proposal) // after the proposal was written
	in       CheckInput      // settings
}

func resources(cpu, mem, pods int64) cluster.Resources {
	return cluster.ResourcesOf(map[string]int64{cluster.CPU: cpu, cluster.Memory: mem * gib, cluster.Pods: pods})
}

func instanceType(name string, cpus int64, price float64) cluster.InstanceType {
	t := cluster.InstanceType{
		Name: name, Arch: "amd64", OS: "linux", VolumeLimit: 2,
		Labels:   map[string]string{cluster.LabelInstanceType: name, cluster.LabelArch: "amd64", cluster.LabelOS: "linux"},
		Capacity: resources(cpus*1000, cpus*4, 20), Allocatable: resources(cpus*1000-100, cpus*4-1, 20),
	}
	for _, z := range []string{zoneA, zoneB, zoneC} {
		t.Offerings = append(t.Offerings,
			cluster.Offering{Zone: z, CapacityType: cluster.OnDemand, Price: price},
			cluster.Offering{Zone: z, CapacityType: cluster.Spot, Price: price / 3})
	}
	return t
}

func pod(name string) cluster.Pod {
	return cluster.Pod{Namespace: "ns", Name: name, Labels: map[string]string{"app": "web", "pod": name}, Phase: corev1.PodPending, Unschedulable: true,
		Requests: cluster.ResourcesOf(map[string]int64{cluster.CPU: 500, cluster.Memory: gib})}
}

func running(name, node string) cluster.Pod {
	p := pod(name)
	p.NodeName, p.Phase, p.Unschedulable = node, corev1.PodRunning, false
	return p
}

func newFixture() *fixture {
	f := &fixture{types: []cluster.InstanceType{instanceType("m.large", 4, 0.2), instanceType("m.xlarge", 8, 0.4)}}
	f.snap.Region = "us-east-1"
	f.snap.NodeClasses = []cluster.NodeClass{{Name: "class"}}
	f.snap.NodePools = []cluster.NodePool{{
		Name: "pool", NodeClass: cluster.NodeClassRef{Kind: "EC2NodeClass", Name: "class"}, Labels: map[string]string{teamKey: "red"},
		Requirements: []cluster.Requirement{{Key: cluster.LabelArch, Operator: cluster.In, Values: []string{"amd64"}}},
	}}
	f.snap.Namespaces = []cluster.Namespace{{Name: "ns", Labels: map[string]string{"tier": "x"}}, {Name: "other"}}
	f.snap.Nodes = []cluster.Node{{
		Name: "standing", Ready: true, Capacity: resources(4000, 16, 20), Allocatable: resources(3900, 15, 20),
		Labels: map[string]string{cluster.LabelHostname: "standing", cluster.LabelZone: zoneA, cluster.LabelArch: "amd64"}, VolumeLimits: map[string]int64{ebsDriver: 2},
	}}
	f.snap.Claims = []cluster.NodeClaim{{
		Name: "flying", NodePool: "pool", Capacity: resources(4000, 16, 20), Allocatable: resources(3900, 15, 20),
		Labels: map[string]string{cluster.LabelInstanceType: "m.large", cluster.LabelZone: zoneB},
	}}
	for _, name := range []string{"one", "two", "three", "onto-standing", "onto-flying", "left"} {
		f.snap.Pods = append(f.snap.Pods, pod(name))
	}
	f.snap.Pods = append(f.snap.Pods, running("old", "standing"))
	f.nodes = []NewNode{f.node("new", []string{zoneA, zoneB, zoneC}, "one", "two", "three")}
	f.existing = []ExistingNode{{Name: "standing", Pods: placed("onto-standing")}, {Name: "flying", InFlight: true, Pods: placed("onto-flying")}}
	f.left = []LeftOut{{Pod: "ns/left", Reasons: []string{"no room"}}}
	return f
}

func placed(names ...string) []Placement {
	var out []Placement
	for _, n := range names {
		out = append(out, Placement{Pod: "ns/" + n})
	}
	return out
}

// node is a new node of both types on demand in some zones.
func (f *fixture) node(name string, zones []string, pods ...string) NewNode {
	return NewNode{
		Name: name, NodePool: "pool", NodeClass: f.snap.NodePools[0].NodeClass, InstanceType: "m.large", Zone: zones[0], CapacityType: cluster.OnDemand,
		PricePerHour: 0.2, InstanceTypes: []string{"m.large", "m.xlarge"}, Zones: zones, CapacityTypes: []string{cluster.OnDemand},
		Labels: map[string]string{teamKey: "red", cluster.LabelArch: "amd64"}, Allocatable: f.types[0].Allocatable, Pods: placed(pods...),
	}
}

// pod finds a pod of the snapshot.
func (f *fixture) pod(name string) *cluster.Pod {
	i := slices.IndexFunc(f.snap.Pods, func(p cluster.Pod) bool { return p.Name == name })
	return &f.snap.Pods[i]
}

// add puts another pod into the snapshot and onto a new node of the plan.
func (f *fixture) add(node int, name string, change func(*cluster.Pod)) {
	p := pod(name)
	if change != nil {
		change(&p)
	}
	f.snap.Pods = append(f.snap.Pods, p)
	f.nodes[node].Pods = append(f.nodes[node].Pods, placed(name)...)
}

// input writes the proposal and what it was made from.
func (f *fixture) input() CheckInput {
	p := &Proposal{Trigger: "test", Report: Report{NewNodes: f.nodes, ExistingNodes: f.existing, Unschedulable: f.left}}
	s := &p.Report.Summary
	for i := range f.nodes {
		n := &p.Report.NewNodes[i]
		n.Requests = n.Daemons
		for _, pl := range n.Pods {
			for k := range f.snap.Pods {
				if f.snap.Pods[k].Key() == pl.Pod {
					n.Requests = n.Requests.Add(f.snap.Pods[k].Requests)
				}
			}
		}
		n.Requirements = []cluster.Requirement{
			{Key: cluster.LabelInstanceType, Operator: cluster.In, Values: n.InstanceTypes},
			{Key: cluster.LabelZone, Operator: cluster.In, Values: n.Zones},
			{Key: cluster.LabelCapacityType, Operator: cluster.In, Values: n.CapacityTypes},
		}
		s.NewNodes++
		s.PricePerHour += n.PricePerHour
		s.Scheduled += len(n.Pods)
		key := Key("claim/" + n.Name)
		p.Needs = append(p.Needs, Precondition{Key: key})
		p.Writes = append(p.Writes, Write{Key: key, Claim: f.claim(n)})
	}
	for i := range f.existing {
		s.Scheduled += len(f.existing[i].Pods)
	}
	s.Pods = s.Scheduled + len(f.left)
	if f.spoil != nil {
		f.spoil(p)
	}
	in := f.in
	in.Snapshot, in.Proposal = &f.snap, p
	in.Types = func(*cluster.NodeClass) []cluster.InstanceType { return f.types }
	return in
}

func (f *fixture) claim(n *NewNode) cluster.NodeClaim {
	m := cluster.NodeClaim{Name: n.Name, NodePool: n.NodePool, NodeClass: n.NodeClass, Labels: n.Labels, Requirements: n.Requirements, Requests: n.Requests, Allocatable: n.Allocatable}
	for i := range f.types {
		if f.types[i].Name == n.InstanceType {
			m.Capacity = f.types[i].Capacity
		}
	}
	for i := range f.snap.NodePools {
		if p := &f.snap.NodePools[i]; p.Name == n.NodePool {
			m.Taints, m.StartupTaints, m.ExpireAfter, m.TerminationGracePeriod = p.Taints, p.StartupTaints, p.ExpireAfter, p.TerminationGracePeriod
		}
	}
	return m
}

// violationsOf lists what Check said.
func violationsOf(t *testing.T, err error) []Violation {
	t.Helper()
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		t.Fatalf("not joined errors: %v", err)
	}
	var out []Violation
	for _, e := range joined.Unwrap() {
		var v Violation
		if errors.As(e, &v) {
			out = append(out, v)
		}
	}
	return out
}

// spoiled is one way in which a plan is wrong, or is right in spite of it.
type spoiled struct {
	name   string
	change func(*fixture)
	rule   Rule // "" where nothing is wrong
	node   string
	pod    string
}

// runSpoiled asks that each plan is refused for the one rule that it breaks.
func runSpoiled(t *testing.T, cases []spoiled) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture()
			c.change(f)
			got := violationsOf(t, Check(f.input()))
			if c.rule == "" {
				if len(got) > 0 {
					t.Errorf("refused: %v", got)
				}
				return
			}
			found := false
			for _, v := range got {
				if v.Rule != c.rule {
					t.Errorf("also refused: %v", v)
				}
				found = found || v.Rule == c.rule && v.Node == c.node && v.Pod == c.pod
			}
			if !found {
				t.Errorf("no violation of %q at node %q, pod %q: %v", c.rule, c.node, c.pod, got)
			}
		})
	}
}
