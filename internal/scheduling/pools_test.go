package scheduling_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/scheduling"
)

// TestPoolWeights: the heaviest NodePool that suits a pod, whatever its price.
func TestPoolWeights(t *testing.T) {
	dear := of(machine("dear", 2, 8, 9))
	check(t, []rule{
		{"the heavier one though it is dearer", given(pool("light"), pool("heavy", weight(10), dear), pod("x")), pooled, "x:heavy"},
		{"no weight is the lowest", given(pool("none"), pool("one", weight(1), dear), pod("x")), pooled, "x:one"},
		{"the cheaper one of equal weights", given(pool("a-dear", weight(5), dear), pool("cheap", weight(5)), pod("x")), pooled, "x:cheap"},
		{"the name decides between equals", given(pool("two"), pool("one"), pod("x")), pooled, "x:one"},
		{"the lighter one where the heavier lacks the label", given(pool("light", gives("team", "x")), pool("heavy", weight(10)), pod("x", selects("team", "x"))), pooled, "x:light"},
		{"the lighter one where the heavier is tainted", given(pool("light"), pool("heavy", weight(10), tainted("own", noSchedule)), pod("x")), pooled, "x:light"},
		{"the lighter one where the heavier has no type that is large enough", given(pool("light"), pool("heavy", weight(10), dear), pod("x", cpu(4000))), pooled, "x:light"},
		{"the lighter one where the heavier's zones do not do", given(pool("light"), pool("heavy", weight(10), requires(zone, cluster.In, "a")), pod("x", selects(zone, "b"))), pooled, "x:light"},
		{"the lighter one where the heavier is sold out", given(pool("light"), pool("heavy", weight(10), of(machine("gone", 2, 8, 1, soldOut("a"), soldOut("b"), soldOut("c")))), pod("x")), pooled, "x:light"},
		{"the lighter one beyond the heavier's limit", given(pool("light"), pool("heavy", weight(10), limited(cluster.Nodes, 1)), pods(2, "x", cpu(8000))), pooled, "x1:heavy x2:light"},
		{"three of them", given(pool("one", weight(1)), pool("two", weight(2), limited(cluster.Nodes, 1)), pool("three", weight(3), limited(cluster.Nodes, 1)), pods(3, "x", cpu(8000))), pooled, "x1:three x2:two x3:one"},
		{"each pod by its own pools", given(pool("light", gives("team", "x")), pool("heavy", weight(10)), pod("x1", selects("team", "x")), pod("x2")), pooled, "x1:light x2:heavy"},
		{"standing nodes before any", given(pool("heavy", weight(10)), node("n1", "a"), pod("x")), where, "x:n1"},
	})
}

// charged is the most that the new nodes may count against a limit: each at the
// largest type that it may be launched as.
func charged(resource string) func(outcome) string {
	return func(o outcome) string {
		total := int64(0)
		for _, n := range o.r.Nodes {
			most := int64(0)
			for _, t := range o.p.Pools[n.Pool].Types {
				if slices.Contains(n.Types, t.Name) {
					most = max(most, t.Capacity.Get(resource))
				}
			}
			total += most
		}
		return fmt.Sprint(total)
	}
}

func TestLimits(t *testing.T) {
	ofPool := func(changes ...func(*scheduling.Pool)) scheduling.Pool { return pool("default", changes...) }
	eight := pods(8, "x", cpu(2000))
	check(t, []rule{
		{"cpu", given(ofPool(limited(cluster.CPU, 4000)), eight), opened, "1 medium, left 6"},
		{"cpu in use", given(ofPool(limited(cluster.CPU, 8000), using(cluster.CPU, 4000)), eight), opened, "1 medium, left 6"},
		{"cpu used up", given(ofPool(limited(cluster.CPU, 4000), using(cluster.CPU, 4000)), pod("x")), where, "x:-"},
		{"cpu overdrawn", given(ofPool(limited(cluster.CPU, 4000), using(cluster.CPU, 9000)), pod("x")), where, "x:-"},
		{"cpu that no type's size divides", given(ofPool(limited(cluster.CPU, 7000)), eight), opened, "1 medium, 1 small, left 5"},
		{"a limit counts what the machine has, not what pods may use", given(ofPool(of(machine("small", 2, 8, 1, func(x *cluster.InstanceType) { x.Allocatable = x.Allocatable.With(cluster.CPU, 1900) })), limited(cluster.CPU, 3800)), pods(2, "x", cpu(1900))), opened, "1 small, left 1"},
		{"memory", given(ofPool(limited(cluster.Memory, 16*gib)), eight), opened, "1 medium, left 6"},
		{"nodes", given(ofPool(of(machine("small", 2, 8, 1)), limited(cluster.Nodes, 3)), eight), opened, "3 small, left 5"},
		{"nodes in use", given(ofPool(of(machine("small", 2, 8, 1)), limited(cluster.Nodes, 3), using(cluster.Nodes, 2)), eight), opened, "1 small, left 7"},
		{"few nodes are large ones", given(ofPool(limited(cluster.Nodes, 2)), eight), opened, "2 large"},
		{"an extended resource", given(ofPool(of(machine("dev", 2, 8, 1, has("example.com/dev", 1))), limited("example.com/dev", 2)), pods(3, "x", asks("example.com/dev", 1))), opened, "2 dev, left 1"},
		{"GPUs", given(ofPool(of(machine("gpu", 2, 8, 1, exotic, has(gpu, 4))), limited(gpu, 4)), pods(8, "x", asks(gpu, 1), cpu(100))), opened, "1 gpu, left 4"},
		{"a resource that no type has is no matter", given(ofPool(limited("example.com/dev", 0)), pod("x")), where, "x:new"},
		{"two limits, the tighter one", given(ofPool(of(machine("small", 2, 8, 1)), limited(cluster.CPU, 100000), limited(cluster.Nodes, 2)), eight), opened, "2 small, left 6"},
		{"of one pool, and the other has none", given(pool("one", limited(cluster.CPU, 4000)), pool("two"), eight), where, "x1:new x2:new x3:new x4:new x5:new x6:new x7:new x8:new"},
		{"types that would break the limit are dropped", given(ofPool(limited(cluster.CPU, 4000)), pod("x")), listed, "[medium small]"},
		{"without a limit all that hold the pod stay", given(pod("x")), listed, "[large medium small]"},
		{"the charge is at the largest: one node", given(ofPool(limited(cluster.CPU, 4000)), pod("x")), charged(cluster.CPU), "4000"},
		{"the charge is at the largest: the plan as a whole is within the limit", given(ofPool(limited(cluster.CPU, 12000)), pods(4, "x", apart("x", host))), func(o outcome) string {
			if len(o.r.Left) > 0 {
				return "left"
			}
			var n int64
			_, _ = fmt.Sscan(charged(cluster.CPU)(o), &n)
			return map[bool]string{true: "within"}[n <= 12000]
		}, "within"},
		{"the cheaper type does not count against what the larger would", given(ofPool(of(machine("small", 2, 8, 3), machine("large", 8, 32, 1)), limited(cluster.CPU, 2000)), pod("x")), listed, "[small]"},
	})
}

// TestPriorities: where not all can be placed, the more important pods are.
func TestPriorities(t *testing.T) {
	one := pool("default", of(machine("small", 2, 8, 1)), limited(cluster.Nodes, 1))
	check(t, []rule{
		{"the more important pod has the last node", given(one, pod("a", cpu(2000)), pod("b", cpu(2000), priority(10))), where, "a:- b:new"},
		{"be it smaller", given(one, pod("a", cpu(2000)), pod("b", cpu(100), priority(10))), where, "a:- b:new"},
		{"the less important one shares where there is room", given(one, pod("a", cpu(500)), pod("b", cpu(1500), priority(10))), where, "a:new b:new"},
		{"below zero", given(one, pod("a", cpu(2000), priority(-1)), pod("b", cpu(2000))), where, "a:- b:new"},
		{"on standing nodes", given(noPool{}, node("n1", "a"), pod("a", cpu(2000)), pod("b", cpu(1500), priority(10))), where, "a:- b:n1"},
		{"three", given(pool("default", of(machine("small", 2, 8, 1)), limited(cluster.Nodes, 2)), pod("a", cpu(2000), priority(1)), pod("b", cpu(2000), priority(3)), pod("c", cpu(2000), priority(2))), where, "a:- b:new c:new"},
		{"with rules of topology", given(pool("default", of(machine("small", 2, 8, 1)), limited(cluster.Nodes, 1)), pod("a", apart("a", host)), pod("a2", apart("a", host), priority(10))), where, "a2:new a:-"},
		{"in a zone that takes one", given(pool("default", requires(zone, cluster.In, "a")), pod("a", apart("a", zone)), pod("a2", apart("a", zone), priority(10))), where, "a2:new a:-"},
		{"for what is reserved", given(pool("default", of(machine("small", 2, 8, 1, reserved("cr", "a", 1))), requires(paid, cluster.In, cluster.Reserved)), pod("a", cpu(2000)), pod("b", cpu(2000), priority(10))), where, "a:- b:new"},
	})
}

// TestReserved: capacity that is paid for comes first, as far as it reaches.
func TestReserved(t *testing.T) {
	with := func(count int64, more ...func(*cluster.InstanceType)) scheduling.Pool {
		return pool("default", of(machine("small", 2, 8, 1, append(more, reserved("cr", "b", count))...)))
	}
	ids := func(o outcome) string {
		return o.pairs(func(n *scheduling.Node) string { return n.Cheapest.CapacityType + n.Cheapest.ReservationID }, standingName)
	}
	check(t, []rule{
		{"is preferred", given(with(1), pod("x")), ids, "x:reservedcr"},
		{"is preferred to spot", given(with(1, spotAt(0.1)), pod("x")), ids, "x:reservedcr"},
		{"is all that its node may be", given(with(1), pod("x")), counts(paid), "reserved:1"},
		{"is in its zone", given(with(1), pod("x")), at(zone), "x:b"},
		{"is counted", given(with(2), pods(3, "x", cpu(2000))), counts(paid), "on-demand:1 reserved:2"},
		{"that is used up falls through", given(with(0), pod("x")), ids, "x:on-demand"},
		{"not for a pod that wants on-demand", given(with(1), pod("x", selects(paid, cluster.OnDemand))), ids, "x:on-demand"},
		{"alone for a pod that wants it", given(with(1), pods(2, "x", cpu(2000), selects(paid, cluster.Reserved))), where, "x1:new x2:-"},
		{"by its id", given(with(1), pod("x", selects(cluster.LabelReservationID, "cr"))), ids, "x:reservedcr"},
		{"by another id", given(with(1), pod("x", selects(cluster.LabelReservationID, "other"))), where, "x:-"},
		{"not where the NodePool does not allow it", given(pool("default", of(machine("small", 2, 8, 1, reserved("cr", "b", 1))), requires(paid, cluster.In, cluster.Spot, cluster.OnDemand)), pod("x")), ids, "x:on-demand"},
		{"not in a zone that does not suit", given(with(1), pod("x", selects(zone, "a"))), ids, "x:on-demand"},
		{"is counted once for two NodePools", given(pool("one", of(machine("small", 2, 8, 1, reserved("cr", "b", 1)))), pool("two", of(machine("small", 2, 8, 1, reserved("cr", "b", 1)))), pods(2, "x", cpu(2000))), counts(paid), "on-demand:1 reserved:1"},
		{"two reservations", given(pool("default", of(machine("small", 2, 8, 1, reserved("cr1", "a", 1), reserved("cr2", "b", 1)))), pods(3, "x", cpu(2000))), counts(paid), "on-demand:1 reserved:2"},
		{"of a large type for small pods", given(pool("default", of(append(sizes(), machine("huge", 16, 64, 9, reserved("cr", "a", 1)))...)), pods(4, "x", cpu(2000))), opened, "1 huge"},
		{"does not count for the bound", given(with(1), pod("x")), func(o outcome) string { return fmt.Sprint(o.r.LowerBound) }, "0"},
		{"by a pod that has no other place", given(with(1), pods(2, "x", cpu(2000)), pod("y", cpu(2000), selects(paid, cluster.Reserved))), where, "x1:new x2:new y:new"},
	})
}

// TestCapacityTypes: what may be launched.
func TestCapacityTypes(t *testing.T) {
	both := pool("default", of(machine("small", 2, 8, 1, spotAt(0.4))))
	check(t, []rule{
		{"spot where it is cheaper", given(both, pod("x")), choice, "x:small/a/spot"},
		{"on-demand for who asks", given(both, pod("x", selects(paid, cluster.OnDemand))), choice, "x:small/a/on-demand"},
		{"on-demand where the NodePool says so", given(pool("default", of(machine("small", 2, 8, 1, spotAt(0.4))), requires(paid, cluster.In, cluster.OnDemand)), pod("x")), choice, "x:small/a/on-demand"},
		{"on-demand where spot is dearer", given(pool("default", of(machine("small", 2, 8, 1, spotAt(1.5)))), pod("x")), choice, "x:small/a/on-demand"},
		{"a pod for spot and one for on-demand do not share", given(both, pod("x1", selects(paid, cluster.OnDemand)), pod("x2", selects(paid, cluster.Spot))), loads, "1 1"},
	})
}

// TestNoBetterBound: the bound is not above what a plan costs, and reaches it
// where nodes are filled to the brim.
func TestNoBetterBound(t *testing.T) {
	bound := func(o outcome) string {
		price := 0.0
		for _, n := range o.r.Nodes {
			price += n.Cheapest.Price
		}
		return fmt.Sprintf("%.3f of %.3f", o.r.LowerBound, price)
	}
	check(t, []rule{
		{"full to the brim", given(pods(4, "x", cpu(2000), memory(8))), bound, "4.000 of 4.000"},
		{"half empty", given(pod("x", cpu(1000), memory(1))), func(o outcome) string {
			return map[bool]string{true: "between"}[o.r.LowerBound >= 0.5-1e-9 && o.r.LowerBound <= 1+1e-9]
		}, "between"},
		{"one a node", given(pods(3, "x", apart("x", host))), bound, "3.000 of 3.000"},
		{"nothing to launch", given(node("n1", "a"), pod("x")), bound, "0.000 of 0.000"},
	})
}
