package naive

import (
	"testing"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
)

func limit(name string, amount int64) func(*cluster.NodePool) {
	return func(p *cluster.NodePool) { p.Limits = p.Limits.With(name, amount) }
}

func require(r cluster.Requirement) func(*cluster.NodePool) {
	return func(p *cluster.NodePool) { p.Requirements = append(p.Requirements, r) }
}

// reserve adds a reservation of small instances in zone a.
func reserve(free int64) func(*fixture) {
	return func(f *fixture) {
		f.types[0].Offerings = append(f.types[0].Offerings, cluster.Offering{Zone: "a", CapacityType: cluster.Reserved, Price: 0.0001, ReservationID: "cr", ReservationCount: free})
	}
}

func TestPools(t *testing.T) {
	inPool := func(n *cluster.Node) {
		n.Labels[cluster.LabelNodePool] = "default"
		n.Labels[cluster.LabelInitialized] = "true"
	}
	full := needs(cluster.CPU, 2000)
	cheaper := 0.25
	anything := []string{"small", "large"}
	run(t, []one{
		{"requirement", newFixture().pool(require(cluster.Requirement{Key: cluster.LabelArch, Operator: cluster.In, Values: []string{"amd64"}})).pod("x1").plan("n", "small", "a", "x1"), ""},
		{"requirement broken", newFixture().pool(require(cluster.Requirement{Key: cluster.LabelArch, Operator: cluster.In, Values: []string{"amd64"}})).pod("x1").plan("n", "arm", "a", "x1"), "NodePool default wants"},
		{"Gte", newFixture().pool(require(cluster.Requirement{Key: "karpenter.k8s.aws/instance-cpu", Operator: cluster.Gte, Values: []string{"2"}})).pod("x1").plan("n", "small", "a", "x1"), ""},
		{"Lte", newFixture().pool(require(cluster.Requirement{Key: "karpenter.k8s.aws/instance-cpu", Operator: cluster.Lte, Values: []string{"1"}})).pod("x1").plan("n", "small", "a", "x1"), "NodePool default wants"},
		{"custom label left open", newFixture().pool(custom).pod("x1").plan("n", "small", "a", "x1"), "NodePool default wants team"},
		{"minValues", newFixture().pool(require(cluster.Requirement{Key: cluster.LabelInstanceType, Operator: cluster.Exists, MinValues: 2})).pod("x1").plan("n", "small", "a", "x1"), "minValues"},
		{"minValues reached", newFixture().pool(require(cluster.Requirement{Key: cluster.LabelInstanceType, Operator: cluster.Exists, MinValues: 2})).pod("x1").planAny("n", anything, []string{"a"}, []string{"on-demand"}, "x1"), ""},
		{"pool that is being deleted", newFixture().pool(func(p *cluster.NodePool) { p.Deleting = true }).pod("x1").plan("n", "small", "a", "x1"), "makes no nodes"},
		{"class without the zone", newFixture().with(func(f *fixture) { f.snap.NodeClasses[0].Zones = []string{"b"} }).pod("x1").plan("n", "small", "a", "x1"), "nothing that it lists is offered"},
		{"class without the image", newFixture().with(func(f *fixture) { f.snap.NodeClasses[0].AMIArchs = []string{"arm64"} }).pod("x1").plan("n", "small", "a", "x1"), "no image"},

		{"limit", newFixture().pool(limit(cluster.CPU, 4000)).pod("x1", full).pod("x2", full).plan("n", "small", "a", "x1").plan("m", "small", "a", "x2"), ""},
		{"limit passed", newFixture().pool(limit(cluster.CPU, 3999)).pod("x1", full).pod("x2", full).plan("n", "small", "a", "x1").plan("m", "small", "a", "x2"), "pass the limit"},
		{"limit passed with what stands", newFixture().stand("s", "a", inPool).pool(limit(cluster.CPU, 3000)).pod("x1", full).pod("y1", on("s")).plan("n", "small", "a", "x1"), "pass the limit"},
		{"limit passed by the largest that is listed", newFixture().pool(limit(cluster.CPU, 4000)).pod("x1").planAny("n", anything, []string{"a"}, []string{"on-demand"}, "x1"), "pass the limit"},
		{"limit of nodes", newFixture().pool(limit(cluster.Nodes, 1)).pod("x1", full).pod("x2", full).plan("n", "small", "a", "x1").plan("m", "small", "a", "x2"), "pass the limit"},

		{"reservation", newFixture().with(reserve(1)).pod("x1").planAny("n", []string{"small"}, []string{"a"}, []string{"reserved"}, "x1"), ""},
		{"reservation used twice", newFixture().with(reserve(1)).pod("x1", full).pod("x2", full).planAny("n", []string{"small"}, []string{"a"}, []string{"reserved"}, "x1").planAny("m", []string{"small"}, []string{"a"}, []string{"reserved"}, "x2"), "reservation cr"},
		{"reservation that is used up", newFixture().with(reserve(0)).pod("x1").planAny("n", []string{"small"}, []string{"a"}, []string{"reserved"}, "x1"), "nothing that it lists is offered"},

		{"overlay", newFixture().with(func(f *fixture) { f.snap.Overlays = []cluster.NodeOverlay{{Name: "o", Price: &cheaper}} }).pod("x1").plan("n", "small", "a", "x1").with(func(f *fixture) { f.report.NewNodes[0].PricePerHour = cheaper }), ""},
		{"overlay forgotten", newFixture().with(func(f *fixture) { f.snap.Overlays = []cluster.NodeOverlay{{Name: "o", Price: &cheaper}} }).pod("x1").plan("n", "small", "a", "x1"), "an hour"},
		{"overlay of a resource", newFixture().with(func(f *fixture) {
			f.snap.Overlays = []cluster.NodeOverlay{{Name: "o", Capacity: cluster.ResourcesOf(map[string]int64{"x/y": 1})}}
		}).pod("x1", needs("x/y", 1)).plan("n", "small", "a", "x1"), ""},

		{"price", newFixture().pod("x1").plan("n", "small", "a", "x1").with(func(f *fixture) { f.report.NewNodes[0].PricePerHour = 0.5 }), "an hour"},
		{"choice that is not listed", newFixture().pod("x1").planAny("n", anything, []string{"a"}, []string{"on-demand"}, "x1").with(func(f *fixture) { f.report.NewNodes[0].Zone = "b" }), "its choice"},
		{"type that is not sold", newFixture().pod("x1").planAny("n", []string{"small", "huge"}, []string{"a"}, []string{"on-demand"}, "x1"), "lists instance type huge"},
		{"types out of order", newFixture().pod("x1").planAny("n", []string{"large", "small"}, []string{"a"}, []string{"on-demand"}, "x1"), "order of their price"},
		{"offering that is not available", newFixture().with(func(f *fixture) { f.types[0].Offerings[0].Unavailable = true }).pod("x1").plan("n", "small", "a", "x1"), "nothing that it lists is offered"},
		{"node without pods", newFixture().plan("n", "small", "a"), "takes no pod"},
		{"requests", newFixture().pod("x1").plan("n", "small", "a", "x1").with(func(f *fixture) { f.report.NewNodes[0].Requests = nil }), "its pods and daemons add up"},
		{"allocatable", newFixture().pod("x1").plan("n", "small", "a", "x1").with(func(f *fixture) { f.report.NewNodes[0].Allocatable = nil }), "allocatable, its choice has"},
	})
}

func TestPods(t *testing.T) {
	run(t, []one{
		{"nothing", newFixture(), ""},
		{"placed twice", newFixture().pod("x1").plan("n", "small", "a", "x1").plan("m", "small", "a", "x1"), "2 times"},
		{"placed and left out", newFixture().pod("x1").plan("n", "small", "a", "x1").leave("x1").with(func(f *fixture) { f.snap.NodePools[0].Limits = cluster.ResourcesOf(map[string]int64{cluster.Nodes: 1}) }), "2 times"},
		{"forgotten", newFixture().pod("x1"), "is not in the report"},
		{"gated", newFixture().pod("x1", func(p *cluster.Pod) { p.Gated = true }), ""},
		{"gated and placed", newFixture().pod("x1", func(p *cluster.Pod) { p.Gated = true }).plan("n", "small", "a", "x1"), "does not wait"},
		{"unknown", newFixture().plan("n", "small", "a", "x1"), "not in the snapshot"},
		{"with a problem", newFixture().pod("x1", func(p *cluster.Pod) { p.Problems = []string{"no such claim"} }).plan("n", "small", "a", "x1"), "no such claim"},
		{"with a problem, left out", newFixture().pod("x1", func(p *cluster.Pod) { p.Problems = []string{"no such claim"} }).leave("x1"), ""},
		{"without a reason", newFixture().pod("x1", needs(cluster.CPU, 9000)).leave("x1").with(func(f *fixture) { f.report.Unschedulable[0].Reasons = nil }), "without a reason"},
		{"summary", newFixture().pod("x1").plan("n", "small", "a", "x1").with(func(f *fixture) {
			f.report.Summary = plan.Summary{Pods: 1, Scheduled: 1, NewNodes: 1, PricePerHour: 2}
		}), "summary"},
		{"bound above the price", newFixture().pod("x1").plan("n", "small", "a", "x1").with(func(f *fixture) {
			f.report.Summary = plan.Summary{Pods: 1, Scheduled: 1, NewNodes: 1, PricePerHour: 1, LowerBoundPerHour: 1.1}
		}), "lower bound"},
	})
}

func TestLeftOut(t *testing.T) {
	big := needs(cluster.CPU, 8001)
	run(t, []one{
		{"too large", newFixture().pod("x1", big).leave("x1"), ""},
		{"a new node would do", newFixture().pod("x1").leave("x1"), "could be placed: on a new node"},
		{"a standing node would do", newFixture().stand("s", "a").pod("x1").leave("x1"), "could be placed: on node s"},
		{"a planned node would do", newFixture().pod("x1").pod("x2").plan("n", "small", "a", "x1").leave("x2"), "could be placed: on new node n"},
		{"only a cordoned node would do", newFixture().pool(limit(cluster.Nodes, 0)).stand("s", "a", func(n *cluster.Node) { n.Cordoned = true }).pod("x1").leave("x1"), ""},
		{"limit", newFixture().pool(limit(cluster.CPU, 1000)).pod("x1").leave("x1"), ""},
		{"minValues", newFixture().pool(require(cluster.Requirement{Key: cluster.LabelInstanceType, Operator: cluster.Exists, MinValues: 4})).pod("x1").leave("x1"), ""},
		{"custom label", newFixture().pool(custom).pod("x1", selecting("team", "y")).leave("x1"), "could be placed"},
		{"custom label of another pool", newFixture().pool(custom).pod("x1", selecting("team", "z")).leave("x1"), ""},
		{"label that nobody defines", newFixture().pod("x1", selecting("team", "z")).leave("x1"), ""},
		{"zonal anti-affinity with zones left", newFixture().pod("x1", apart(zone, "x")).pod("x2", apart(zone, "x")).plan("n", "small", "a", "x1").leave("x2"), "could be placed"},
		{"zonal anti-affinity without zones left", newFixture().pod("x1", apart(zone, "x")).pod("x2", apart(zone, "x")).pod("x3", apart(zone, "x")).plan("n", "small", "a", "x1").plan("m", "small", "b", "x2").leave("x3"), ""},
		{"a zone that sells no arm64 is no domain for arm64", newFixture().with(func(f *fixture) { f.types[1].Offerings = f.types[1].Offerings[:2] }).
			pod("x1", spreading(zone, 1), selecting(cluster.LabelArch, "arm64")).pod("x2", spreading(zone, 1), selecting(cluster.LabelArch, "arm64")).
			plan("n", "arm", "a", "x1").leave("x2"), "could be placed"},
		{"a zone that could be made and is full counts", newFixture().pool(limit(cluster.Nodes, 1)).pod("x1", spreading(zone, 1)).pod("x2", spreading(zone, 1)).plan("n", "small", "a", "x1").leave("x2"), ""},
		{"host name selector", newFixture().stand("s", "a").pod("x1", selecting(host, "s")).leave("x1"), ""},
	})
}

func TestPriorities(t *testing.T) {
	first := func(p *cluster.Pod) { p.Priority = 100 }
	large := needs(cluster.CPU, 1500)
	run(t, []one{
		{"the lesser is placed on the last node", newFixture().pool(limit(cluster.Nodes, 1)).pod("x1", large, first).pod("x2", large).plan("n", "small", "a", "x2").leave("x1"), "in its way"},
		{"the greater is placed on the last node", newFixture().pool(limit(cluster.Nodes, 1)).pod("x1", large, first).pod("x2", large).plan("n", "small", "a", "x1").leave("x2"), ""},
		{"the lesser has spent the limit on a node that is too small", newFixture().pool(limit(cluster.CPU, 8000)).pod("x1", needs(cluster.CPU, 7000), first).pod("x2").plan("n", "small", "a", "x2").leave("x1"), "in its way"},
		{"the lesser is on a standing node", newFixture().pool(limit(cluster.Nodes, 0)).stand("s", "a").pod("x1", large, first).pod("x2", large).use("s", "x2").leave("x1"), "in its way"},
		{"the lesser is where the greater may not be", newFixture().pool(limit(cluster.Nodes, 1)).pod("x1", large, first, selecting(zone, "c")).pod("x2", large).plan("n", "small", "a", "x2").leave("x1"), ""},
	})
}
