package scheduling_test

import (
	"testing"

	"github.com/dovetail-sh/dovetail/internal/scheduling"
)

// TestPreferredNodeAffinity: a wish is weighed against price. What is free is
// granted, what costs a fortune is not, and nobody is left out for a wish.
func TestPreferredNodeAffinity(t *testing.T) {
	inB := prefers(50, expr(zone, "In", "b"))
	onArm := func(w int32) func(*scheduling.Problem) *scheduling.Problem {
		return func(p *scheduling.Problem) *scheduling.Problem {
			put(p, pod("x", prefers(w, expr(arch, "In", "arm64"))))
			return p
		}
	}
	priced := func(price float64) *scheduling.Problem {
		return given(pool("default", of(machine("amd", 2, 8, 1), machine("arm", 2, 8, price, arm))))
	}
	ignoring := scheduling.Options{IgnorePreferences: true}
	check(t, []rule{
		{"is granted where it costs nothing", given(pod("x", inB)), at(zone), "x:b"},
		{"is granted where it costs little", onArm(50)(priced(1.1)), typed, "x:arm"},
		{"is not granted where it costs much", onArm(50)(priced(10)), typed, "x:amd"},
		{"a light one is not granted where a heavy one is: the light one", onArm(1)(priced(1.3)), typed, "x:amd"},
		{"a light one is not granted where a heavy one is: the heavy one", onArm(100)(priced(1.3)), typed, "x:arm"},
		{"that cannot be had is dropped", given(pod("x", prefers(100, expr(zone, "In", "d")))), where, "x:new"},
		{"that no pool defines is dropped", given(pod("x", prefers(100, expr("team", "In", "x")))), where, "x:new"},
		{"that contradicts a requirement is dropped", given(pod("x", selects(zone, "a"), inB)), at(zone), "x:a"},
		{"the heavier of two that contradict each other", given(pod("x", prefers(10, expr(zone, "In", "c")), prefers(90, expr(zone, "In", "b")))), at(zone), "x:b"},
		{"both of two that go together", given(pod("x", prefers(10, expr(kind, "In", "large")), prefers(90, expr(zone, "In", "b"))), pods(9, "y", cpu(800), inB)), at(zone), "x:b y1:b y2:b y3:b y4:b y5:b y6:b y7:b y8:b y9:b"},
		{"several expressions of a term go together", given(pod("x", prefers(50, expr(zone, "In", "b"), expr(arch, "In", "arm64")))), where, "x:new"},
		{"on a standing node", given(node("n1", "a"), node("n2", "b"), pod("x", inB)), where, "x:n2"},
		{"does not open a node where one stands", given(node("n1", "a"), pod("x", inB)), where, "x:n1"},
		{"a standing node that is full", given(node("n1", "b", full), node("n2", "a"), pod("x", inB)), where, "x:n2"},
		{"by the operator NotIn", given(pod("x", prefers(50, expr(zone, "NotIn", "a", "b")))), at(zone), "x:c"},
		{"by an alias", given(pod("x", prefers(50, expr("failure-domain.beta.kubernetes.io/zone", "In", "b")))), at(zone), "x:b"},
		{"is not looked at with the policy Ignore", given(ignoring, pod("x", inB)), at(zone), "x:a|b|c"},
		{"a requirement is looked at with the policy Ignore", given(ignoring, pod("x", selects(zone, "b"))), at(zone), "x:b"},
	})
}

// TestPreferredPodAffinity: wishes about other pods.
func TestPreferredPodAffinity(t *testing.T) {
	inB := node("n1", "b", full, runs(pod("db9")))
	check(t, []rule{
		{"zone: near one that stands", given(inB, pod("web1", ratherNear(100, "db", zone))), at(zone), "web1:b"},
		{"zone: near one that is planned", given(pod("db1", selects(zone, "b")), pods(3, "web", ratherNear(100, "db", zone), cpu(2000))), counts(zone), "b:4"},
		{"zone: not at any price", given(pool("default", of(machine("small", 2, 8, 1, dearer("b", 50)))), inB, pod("web1", ratherNear(100, "db", zone), cpu(2000))), func(o outcome) string { return map[bool]string{true: "elsewhere"}[o.tally(zone)["b"] == 0] }, "elsewhere"},
		{"zone: nobody is there", given(pod("web1", ratherNear(100, "db", zone))), where, "web1:new"},
		{"zone: where nothing can be launched", given(pool("default", of(sizes(soldIn("a"))...)), inB, pod("web1", ratherNear(100, "db", zone))), at(zone), "web1:a"},
		{"zone: not with the policy Ignore", given(scheduling.Options{IgnorePreferences: true}, inB, pod("web1", ratherNear(100, "db", zone))), at(zone), "web1:a|b|c"},
		{"zone: away from one that stands", given(node("n1", "a", full, runs(pod("db9"))), node("n2", "b", full, runs(pod("db8"))), pod("web1", ratherApart(100, "db", zone))), at(zone), "web1:c"},
		{"zone: away from each other where it costs nothing", given(pods(3, "web", ratherApart(100, "web", zone), cpu(2000))), counts(zone), "a:1 b:1 c:1"},
		{"zone: more than zones", given(pods(4, "web", ratherApart(100, "web", zone), cpu(2000))), balance(zone), "2 1 1"},
		{"zone: where there is one", given(pool("default", of(sizes(soldIn("a"))...)), pods(3, "web", ratherApart(100, "web", zone))), counts(zone), "a:3"},
		{"node: does not open a node a pod", given(pods(8, "web", ratherApart(100, "web", host))), loads, "8"},
		{"node: of two that stand the one without the other", given(node("n1", "a", runs(pod("db9"))), node("n2", "a"), pod("web1", ratherApart(100, "db", host))), where, "web1:n2"},
		{"node: of two that stand the one with the other", given(node("n1", "a"), node("n2", "a", runs(pod("db9"))), pod("web1", ratherNear(100, "db", host))), where, "web1:n2"},
		{"node: does not bind those who come after it", given(noPool{}, node("n1", "a", runs(pod("db9", ratherApart(100, "web", host)))), pod("web1")), where, "web1:n1"},
	})
}
