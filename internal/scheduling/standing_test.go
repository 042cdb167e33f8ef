package scheduling_test

import (
	"testing"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

func TestStandingNodes(t *testing.T) {
	check(t, []rule{
		{"before new ones", given(node("n1", "a"), pod("x")), where, "x:n1"},
		{"and the rest on new ones", given(node("n1", "a"), pods(5, "x")), loads, "4 1"},
		{"room that is used is no room", given(node("n1", "a", runs(pod("old", cpu(1600)))), pod("x")), where, "x:new"},
		{"cpu to the brim", given(noPool{}, node("n1", "a", runs(pod("old", cpu(1500)))), pod("x")), where, "x:n1"},
		{"memory", given(noPool{}, node("n1", "a"), pod("x", memory(9))), where, "x:-"},
		{"the number of pods", given(noPool{}, node("n1", "a", room(cluster.Pods, 2)), pods(3, "x", cpu(10))), loads, "2 left 1"},
		{"an extended resource", given(noPool{}, node("n1", "a", room(gpu, 1)), pods(2, "x", asks(gpu, 1))), loads, "1 left 1"},
		{"an extended resource that it lacks", given(noPool{}, node("n1", "a"), pod("x", asks(gpu, 1))), where, "x:-"},
		{"over its limits already, and the pod asks for nothing of that", given(noPool{}, node("n1", "a", runs(pod("old", memory(9)))), pod("x", asks(cluster.Memory, 0))), where, "x:n1"},
		{"over its limits already", given(noPool{}, node("n1", "a", runs(pod("old", cpu(2500)))), pod("x", cpu(1))), where, "x:-"},
		{"a pod that asks for nothing", given(noPool{}, node("n1", "a", runs(pod("old", cpu(2000), memory(8)))), pod("x", cpu(0), memory(0))), where, "x:n1"},
		{"several nodes", given(noPool{}, node("n1", "a"), node("n2", "b"), pods(9, "x")), loads, "4 4 left 1"},
		{"closed ones take nothing", given(node("n1", "a", closed), pod("x")), where, "x:new"},

		{"the selector", given(node("n1", "a"), pod("x", selects(zone, "b"))), where, "x:new"},
		{"a label of its own", given(noPool{}, node("n1", "a"), node("n2", "a", carries("team", "x")), pod("x", selects("team", "x"))), where, "x:n2"},
		{"the hostname", given(noPool{}, node("n1", "a"), node("n2", "a"), pod("x", selects(host, "n2"))), where, "x:n2"},
		{"NotIn of a label that it lacks", given(noPool{}, node("n1", "a"), pod("x", wants(exprs{expr("team", "NotIn", "x")}))), where, "x:n1"},
		{"Gt of a label that it lacks", given(noPool{}, node("n1", "a"), pod("x", wants(exprs{expr("team", "Gt", "1")}))), where, "x:-"},
		{"OR-terms", given(noPool{}, node("n1", "a"), pod("x", wants(exprs{expr(zone, "In", "b")}, exprs{expr(arch, "In", "amd64")}))), where, "x:n1"},
		{"a label by its old name, asked for by the new", given(noPool{}, node("n1", "a", lacks(zone), carries("failure-domain.beta.kubernetes.io/zone", "a")), pod("x", selects(zone, "a"))), where, "x:-"},

		{"a taint", given(node("n1", "a", taint("own", noSchedule)), pod("x")), where, "x:new"},
		{"NoExecute", given(noPool{}, node("n1", "a", taint("own", noExecute)), pod("x")), where, "x:-"},
		{"a taint that is tolerated", given(node("n1", "a", taint("own", noSchedule)), pod("x", tolerates("own"))), where, "x:n1"},
		{"PreferNoSchedule: the other one first", given(node("n1", "a", taint("own", rather)), node("n2", "a"), pod("x")), where, "x:n2"},
		{"PreferNoSchedule: better than a new one", given(node("n1", "a", taint("own", rather)), pod("x")), where, "x:n1"},

		{"unmanaged ones do as well", given(noPool{}, node("n1", "a", lacks(cluster.LabelNodePool)), pod("x")), where, "x:n1"},
		{"large pods first, so that small ones fill the gaps", given(noPool{}, node("n1", "a"), node("n2", "a"), pods(2, "x", cpu(1500)), pods(2, "y", cpu(500))), loads, "2 2"},
		{"no pods to place", given(node("n1", "a")), where, ""},
	})
}

// TestStandingNodesOfManyKinds: nodes alike share the work, and differ in what
// is left.
func TestStandingNodesOfManyKinds(t *testing.T) {
	many := []any{noPool{}}
	for _, n := range []string{"n1", "n2", "n3", "n4", "n5", "n6"} {
		many = append(many, node(n, "a"))
	}
	with := func(more ...any) []any { return append(append([]any{}, many...), more...) }
	check(t, []rule{
		{"each is filled", given(with(pods(24, "x"))...), loads, "4 4 4 4 4 4"},
		{"one pod each", given(with(pods(6, "x", apart("x", host)))...), loads, "1 1 1 1 1 1"},
		{"one of them by name", given(with(pod("x", selects(host, "n4")))...), where, "x:n4"},
		{"all but one by name", given(with(pods(21, "x", wants(exprs{expr(host, "NotIn", "n4")})))...), loads, "4 4 4 4 4 left 1"},
	})
}
