package plan

import (
	"testing"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

func TestCheckChoices(t *testing.T) {
	runSpoiled(t, []spoiled{
		{"type that is not there", func(f *fixture) { f.nodes[0].InstanceTypes = append(f.nodes[0].InstanceTypes, "m.huge") }, RuleChoice, "new", ""},
		{"zone that is not there", func(f *fixture) { f.nodes[0].Zones = append(f.nodes[0].Zones, "us-east-1f") }, RuleChoice, "new", ""},
		{"capacity type that is not there", func(f *fixture) { f.nodes[0].CapacityTypes = append(f.nodes[0].CapacityTypes, cluster.Reserved) }, RuleChoice, "new", ""},
		{"nothing is offered", func(f *fixture) { f.nodes[0].Zones, f.nodes[0].Zone = []string{"us-east-1f"}, "us-east-1f" }, RuleChoice, "new", ""},
		{"type that is not available", func(f *fixture) { f.unavailable("m.xlarge") }, RuleChoice, "new", ""},
		{"choice that is not available", func(f *fixture) {
			f.types[0].Offerings[0].Unavailable = true // on demand in zone a
		}, RuleChoice, "new", ""},
		{"choice that is not listed", func(f *fixture) { f.nodes[0].InstanceTypes = f.nodes[0].InstanceTypes[1:] }, RuleChoice, "new", ""},
		{"zone that the class has no subnet in", func(f *fixture) { f.snap.NodeClasses[0].Zones = []string{zoneA, zoneB} }, RuleChoice, "new", ""},
		{"spot where there is to be none", func(f *fixture) {
			f.spot(&f.nodes[0])
			f.in.NoSpot = true
		}, RuleChoice, "new", ""},
		{"spot", func(f *fixture) { f.spot(&f.nodes[0]) }, "", "", ""},
		{"another price", func(f *fixture) { f.nodes[0].PricePerHour = 0.19 }, RulePrice, "new", ""},
		{"not the cheapest", func(f *fixture) {
			n := &f.nodes[0]
			n.InstanceType, n.PricePerHour, n.Allocatable = "m.xlarge", 0.4, f.types[1].Allocatable
		}, RulePrice, "new", ""},
		{"price of an overlay", func(f *fixture) {
			price := 0.05
			f.snap.Overlays = []cluster.NodeOverlay{{Name: "deal", Price: &price, Requirements: []cluster.Requirement{{Key: cluster.LabelInstanceType, Operator: cluster.In, Values: []string{"m.large"}}}}}
			f.nodes[0].PricePerHour = price
		}, "", "", ""},
		{"price before an overlay", func(f *fixture) {
			price := 0.05
			f.snap.Overlays = []cluster.NodeOverlay{{Name: "deal", Price: &price}}
		}, RulePrice, "new", ""},
		{"pool that is not there", func(f *fixture) { f.nodes[0].NodePool = "other" }, RuleNodePool, "new", ""},
		{"pool that is being deleted", func(f *fixture) { f.snap.NodePools[0].Deleting = true }, RuleNodePool, "new", ""},
		{"pool of static size", func(f *fixture) { f.snap.NodePools[0].Replicas = new(int64) }, RuleNodePool, "new", ""},
		{"label of the template", func(f *fixture) { f.nodes[0].Labels[teamKey] = "blue" }, RuleNodePool, "new", ""},
		{"requirement on types", require(cluster.LabelInstanceType, cluster.NotIn, "m.xlarge"), RuleNodePool, "new", ""},
		{"requirement on zones", require(cluster.LabelZone, cluster.In, zoneA, zoneB), RuleNodePool, "new", ""},
		{"requirement on numbers", require("example.com/size", cluster.Gte, "3"), RuleNodePool, "new", ""},
		{"requirement on a label that the pool leaves open", require("example.com/open", cluster.Exists), "", "", ""},
		{"requirement on a label that the plan sets", func(f *fixture) {
			require("example.com/size", cluster.In, "s", "l")(f)
			f.nodes[0].Labels["example.com/size"] = "l"
		}, "", "", ""},
		{"no image for the architecture", func(f *fixture) { f.snap.NodeClasses[0].AMIArchs = []string{"arm64"} }, RuleNodePool, "new", ""},
		{"too few types", minValues(cluster.LabelInstanceType, 3), RuleMinValues, "new", ""},
		{"enough zones", minValues(cluster.LabelZone, 3), "", "", ""},
		{"minValues as a wish", func(f *fixture) {
			minValues(cluster.LabelInstanceType, 3)(f)
			f.in.MinValuesBestEffort = true
		}, "", "", ""},
	})
}

func require(key string, op cluster.Operator, values ...string) func(*fixture) {
	return func(f *fixture) {
		p := &f.snap.NodePools[0]
		p.Requirements = append(p.Requirements, cluster.Requirement{Key: key, Operator: op, Values: values})
	}
}

func minValues(key string, n int) func(*fixture) {
	return func(f *fixture) {
		p := &f.snap.NodePools[0]
		p.Requirements = append(p.Requirements, cluster.Requirement{Key: key, Operator: cluster.Exists, MinValues: n})
	}
}

func (f *fixture) unavailable(name string) {
	for i := range f.types {
		for k := range f.types[i].Offerings {
			if f.types[i].Name == name {
				f.types[i].Offerings[k].Unavailable = true
			}
		}
	}
}

func (f *fixture) spot(n *NewNode) {
	n.CapacityType, n.CapacityTypes, n.PricePerHour = cluster.Spot, []string{cluster.Spot}, 0.2/3
}

func TestCheckLimits(t *testing.T) {
	limit := func(name string, amount int64) func(*fixture) {
		return func(f *fixture) { f.snap.NodePools[0].Limits = f.snap.NodePools[0].Limits.With(name, amount) }
	}
	// In use: the claim in flight, 4 cores and 16 GiB. The new node may be of 8
	// cores and 32 GiB.
	runSpoiled(t, []spoiled{
		{"cpu just enough", limit(cluster.CPU, 12000), "", "", ""},
		{"cpu for the cheapest choice only", limit(cluster.CPU, 11999), RuleLimits, "", ""},
		{"memory", limit(cluster.Memory, 47*gib), RuleLimits, "", ""},
		{"nodes just enough", limit(cluster.Nodes, 2), "", "", ""},
		{"nodes", limit(cluster.Nodes, 1), RuleLimits, "", ""},
		{"what no type has", limit("nvidia.com/gpu", 0), "", "", ""},
		{"nodes that stand count", func(f *fixture) {
			f.snap.Nodes[0].Labels[cluster.LabelNodePool], f.snap.Nodes[0].Labels[cluster.LabelInitialized] = "pool", "true"
			limit(cluster.Nodes, 2)(f)
		}, RuleLimits, "", ""},
		{"nodes that go away count until they are gone", func(f *fixture) {
			f.snap.Nodes = append(f.snap.Nodes, cluster.Node{Name: "leaving", Deleting: true, Labels: map[string]string{cluster.LabelNodePool: "pool"}})
			limit(cluster.Nodes, 2)(f)
		}, RuleLimits, "", ""},
		{"over the limit without the plan's doing", func(f *fixture) {
			f.left = append(f.left, LeftOut{"ns/one", []string{"limit"}}, LeftOut{"ns/two", []string{"limit"}}, LeftOut{"ns/three", []string{"limit"}})
			f.nodes = nil
			limit(cluster.CPU, 1000)(f)
		}, "", "", ""},
	})
}

func TestCheckReservations(t *testing.T) {
	reserve := func(f *fixture, count int64) {
		f.types[0].Offerings = append(f.types[0].Offerings, cluster.Offering{Zone: zoneA, CapacityType: cluster.Reserved, Price: 1e-8, ReservationID: "cr-1", ReservationCount: count})
	}
	use := func(f *fixture, n *NewNode) {
		n.InstanceTypes, n.Zones, n.CapacityTypes = []string{"m.large"}, []string{zoneA}, []string{cluster.Reserved}
		n.Zone, n.CapacityType, n.ReservationID, n.PricePerHour = zoneA, cluster.Reserved, "cr-1", 1e-8
	}
	runSpoiled(t, []spoiled{
		{"one free, one used", func(f *fixture) {
			reserve(f, 1)
			use(f, &f.nodes[0])
		}, "", "", ""},
		{"one free, two used", func(f *fixture) {
			reserve(f, 1)
			f.nodes = append(f.nodes, f.node("second", []string{zoneA}))
			f.add(1, "more", nil)
			use(f, &f.nodes[0])
			use(f, &f.nodes[1])
		}, RuleReservations, "", ""},
		{"none free", func(f *fixture) {
			reserve(f, 0)
			use(f, &f.nodes[0])
		}, RuleChoice, "new", ""},
		{"another reservation", func(f *fixture) {
			reserve(f, 1)
			use(f, &f.nodes[0])
			f.nodes[0].ReservationID = "cr-2"
		}, RuleChoice, "new", ""},
	})
}
