package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/scheduling"
)

const (
	honor  = corev1.NodeInclusionPolicyHonor
	ignore = corev1.NodeInclusionPolicyIgnore
)

func TestSpreadOverZones(t *testing.T) {
	even := spreads("web", zone, 1)
	check(t, []rule{
		{"one each", given(pods(3, "web", even)), counts(zone), "a:1 b:1 c:1"},
		{"differ by one at most", given(pods(7, "web", even)), balance(zone), "3 2 2"},
		{"differ by maxSkew at most, where one zone is far cheaper", given(pool("default", of(sizes(dearer("b", 9), dearer("c", 9))...)), pods(8, "web", spreads("web", zone, 2))), counts(zone), "a:4 b:2 c:2"},
		{"what stands counts", given(node("n1", "a", full, runs(pods(2, "web")...)), pods(2, "web1", even, labelled("app", "web"))), counts(zone), "b:1 c:1"},
		{"standing nodes take their share first", given(node("n1", "a"), pods(3, "web", even)), counts(zone), "a:1 b:1 c:1"},
		{"a pod that is being deleted does not count", given(noPool{}, node("n1", "a", runs(pod("web9", deleting()))), node("n2", "b", full), pod("web1", even)), where, "web1:n1"},
		{"pods of another namespace do not count", given(noPool{}, node("n1", "a", runs(pods(2, "web", in("other"))...)), node("n2", "b", full), pod("web1", even)), where, "web1:n1"},
		{"pods that the selector does not match do not count", given(noPool{}, node("n1", "a", runs(pods(2, "db")...)), node("n2", "b", full), pod("web1", even)), where, "web1:n1"},
		{"pods on cordoned nodes count", given(noPool{}, node("n1", "a"), node("n2", "b", closed), node("n3", "a", closed, runs(pod("web9"))), pod("web1", even)), where, "web1:-"},
		{"a cordoned node's zone is a domain that nothing can join", given(noPool{}, node("n1", "a"), node("n2", "b", closed), pods(2, "web", even)), loads, "1 left 1"},
		{"a full node's zone is a domain that nothing can join", given(noPool{}, node("n1", "a"), node("n2", "b", full), pods(2, "web", even)), loads, "1 left 1"},
		{"a node without the label is no place", given(noPool{}, node("n1", "a", lacks(zone)), pod("web1", even)), where, "web1:-"},
		{"a pod that only matches keeps the others in balance", given(pods(3, "web", even), pods(3, "web1", labelled("app", "web"))), counts(zone), "a:2 b:2 c:2"},
		{"a selector that does not match the pod itself", given(noPool{}, node("n1", "a", runs(pods(2, "db")...)), node("n2", "b", runs(pod("db9"))), pods(2, "web", spreads("db", zone, 1))), loads, "2"},
		{"a selector of others keeps away from where they crowd", given(noPool{}, node("n1", "a", runs(pods(3, "db", cpu(10))...)), node("n2", "b"), pod("web1", spreads("db", zone, 1))), where, "web1:n2"},
		{"no selector counts nobody", given(pods(3, "web", spreads("web", zone, 1, func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = nil }))), loads, "3"},
		{"an empty selector counts the namespace", given(noPool{}, node("n1", "a", runs(pod("db1"))), node("n2", "b"), pod("web1", spreads("web", zone, 1, func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = &cluster.Selector{} }))), where, "web1:n2"},
		{"a beta alias as the key", given(pods(3, "web", spreads("web", "failure-domain.beta.kubernetes.io/zone", 1))), counts(zone), "a:1 b:1 c:1"},
		{"two workloads have balances of their own", given(pods(3, "web", even), pods(3, "api", spreads("api", zone, 1))), counts(zone), "a:2 b:2 c:2"},
		{"a pod that is bound to a zone by its selector", given(pods(4, "web", even, selects(zone, "b"))), counts(zone), "b:4"},
		{"a limit that leaves some out keeps the others in balance", given(pool("default", of(machine("small", 2, 8, 1)), limited(cluster.Nodes, 2)), pods(6, "web", even, cpu(1000))), balance(zone), "1 1 left 4"},
	})
}

// TestSpreadMinDomains: with fewer domains than that the emptiest counts as empty.
func TestSpreadMinDomains(t *testing.T) {
	of := func(n int32) func(*cluster.Pod) { return spreads("web", zone, 1, minDomains(n)) }
	check(t, []rule{
		{"there are as many", given(pods(4, "web", of(3))), balance(zone), "2 1 1"},
		{"there are fewer", given(pods(4, "web", of(4))), balance(zone), "1 1 1 left 1"},
		{"fewer, with a larger skew", given(pods(7, "web", spreads("web", zone, 2, minDomains(5)))), balance(zone), "2 2 2 left 1"},
		{"one is nothing", given(pods(4, "web", of(1))), balance(zone), "2 1 1"},
	})
}

// TestSpreadPolicies: which nodes' zones count. The pool makes nodes in a and b
// only; what stands in c is something the pod cannot use.
func TestSpreadPolicies(t *testing.T) {
	ab := pool("default", requires(zone, cluster.In, "a", "b"))
	inC := func(changes ...func(*scheduling.Standing)) scheduling.Standing { return node("n1", "c", changes...) }
	web := func(policies ...func(*corev1.TopologySpreadConstraint)) []*cluster.Pod {
		return pods(4, "web", spreads("web", zone, 1, policies...), wants(exprs{expr(zone, "In", "a", "b")}))
	}
	armed := of(machine("amd", 2, 8, 1), machine("arm", 2, 8, 1, arm, soldIn("a", "b")))
	check(t, []rule{
		{"affinity is honoured by default", given(ab, inC(), web()), balance(zone), "2 2"},
		{"affinity Honor", given(ab, inC(), web(affinityPolicy(honor))), balance(zone), "2 2"},
		{"affinity Ignore", given(ab, inC(), web(affinityPolicy(ignore))), balance(zone), "1 1 left 2"},
		{"a selector is honoured as affinity is", given(pool("default", armed), pods(4, "web", spreads("web", zone, 1), selects(arch, "arm64"))), balance(zone), "2 2"},
		{"a zone that sells no arm64 does not count against arm64, though amd64 nodes stand there", given(pool("default", armed), inC(full), pods(4, "web", spreads("web", zone, 1), selects(arch, "arm64"))), balance(zone), "2 2"},
		{"that zone counts where affinity is ignored", given(pool("default", armed), inC(full), pods(4, "web", spreads("web", zone, 1, affinityPolicy(ignore)), selects(arch, "arm64"))), balance(zone), "1 1 left 2"},
		{"taints are ignored by default: a tainted node's zone counts", given(ab, inC(taint("own", noSchedule)), pods(4, "web", spreads("web", zone, 1))), balance(zone), "1 1 left 2"},
		{"taints Ignore", given(ab, inC(taint("own", noSchedule)), pods(4, "web", spreads("web", zone, 1, taintsPolicy(ignore)))), balance(zone), "1 1 left 2"},
		{"taints Honor", given(ab, inC(taint("own", noSchedule)), pods(4, "web", spreads("web", zone, 1, taintsPolicy(honor)))), balance(zone), "2 2"},
		{"taints Honor, tolerated", given(ab, inC(full, taint("own", noSchedule)), pods(4, "web", spreads("web", zone, 1, taintsPolicy(honor)), tolerates("own"))), balance(zone), "1 1 left 2"},
		{"taints Honor, PreferNoSchedule does not matter", given(ab, inC(full, taint("own", rather)), pods(4, "web", spreads("web", zone, 1, taintsPolicy(honor)))), balance(zone), "1 1 left 2"},
		{"a tainted pool's zones do not count with Honor", given(ab, pool("dirty", tainted("own", noSchedule)), pods(4, "web", spreads("web", zone, 1, taintsPolicy(honor)))), balance(zone), "2 2"},
		{"pods on nodes that do not count do not count", given(noPool{}, node("n1", "a"), node("n2", "b"), node("n3", "a", carries(arch, "arm64"), runs(pods(2, "web", cpu(10))...)),
			pods(2, "web1", labelled("app", "web"), spreads("web", zone, 1), selects(arch, "amd64"))), loads, "1 1"},
	})
}

func TestSpreadOverOtherKeys(t *testing.T) {
	two := of(machine("amd", 2, 8, 1, spotAt(0.5)), machine("arm", 2, 8, 1, arm, spotAt(0.5)))
	check(t, []rule{
		{"nodes, one each", given(pods(3, "web", spreads("web", host, 1))), loads, "1 1 1"},
		{"nodes, two each", given(pods(4, "web", spreads("web", host, 2))), loads, "2 2"},
		{"nodes: a new one is always there, and empty", given(node("n1", "a", runs(pod("web9"))), pod("web1", spreads("web", host, 1))), where, "web1:new"},
		{"nodes: a standing one that is empty", given(node("n1", "a", runs(pod("web9"))), node("n2", "a"), pod("web1", spreads("web", host, 1))), where, "web1:n2"},
		{"nodes: where none can be made, the least of those that stand counts", given(noPool{}, node("n1", "a", runs(pod("web8"))), node("n2", "a", full, runs(pod("web9"))), pod("web1", spreads("web", host, 1))), where, "web1:n1"},
		{"nodes: where none can be made, a full one may be the emptiest", given(noPool{}, node("n1", "a", runs(pod("web8"))), node("n2", "a", full), pod("web1", spreads("web", host, 1))), where, "web1:-"},
		{"nodes: others fill them up", given(pool("default", of(machine("small", 2, 8, 1))), pods(2, "web", spreads("web", host, 1)), pods(6, "db")), loads, "4 4"},
		{"zone ids", given(pods(4, "web", spreads("web", cluster.LabelZoneID, 1))), balance(zone), "2 1 1"},
		{"capacity types", given(pool("default", two), pods(4, "web", spreads("web", paid, 1))), counts(paid), "on-demand:2 spot:2"},
		{"architectures", given(pool("default", two), pods(4, "web", spreads("web", arch, 1))), counts(arch), "amd64:2 arm64:2"},
		{"instance types", given(pool("default", two), pods(2, "web", spreads("web", kind, 1))), counts(kind), "amd:1 arm:1"},
		{"a label with values that the NodePool lists", given(pool("default", requires("rack", cluster.In, "1", "2")), pods(4, "web", spreads("web", "rack", 1))), counts("rack"), "1:2 2:2"},
		{"a label that two NodePools give", given(pool("one", gives("rack", "1")), pool("two", gives("rack", "2")), pods(4, "web", spreads("web", "rack", 1))), counts("rack"), "1:2 2:2"},
		{"a label that nothing has", given(pods(2, "web", spreads("web", "rack", 1))), loads, " left 2"},
		{"a label of standing nodes alone", given(noPool{}, node("n1", "a", carries("rack", "1")), node("n2", "a", carries("rack", "2")), node("n3", "a"), pods(2, "web", spreads("web", "rack", 1))), where, "web1:n1 web2:n2"},
		{"NodePools", given(pool("one"), pool("two"), pods(4, "web", spreads("web", cluster.LabelNodePool, 1))), counts(cluster.LabelNodePool), "one:2 two:2"},
	})
}

// TestSpreadsTogether: every one of a pod's rules holds.
func TestSpreadsTogether(t *testing.T) {
	two := of(machine("amd", 2, 8, 1, spotAt(0.5)))
	both := func(p *cluster.Pod) {
		spreads("web", zone, 1)(p)
		spreads("web", host, 1)(p)
	}
	bothKeys := func(p *cluster.Pod) {
		spreads("web", zone, 1)(p)
		spreads("web", paid, 1)(p)
	}
	check(t, []rule{
		{"zones and nodes: the zones", given(pods(6, "web", both)), counts(zone), "a:2 b:2 c:2"},
		{"zones and nodes: the nodes", given(pods(6, "web", both)), loads, "1 1 1 1 1 1"},
		{"zones and capacity types: the zones", given(pool("default", two), pods(6, "web", bothKeys)), counts(zone), "a:2 b:2 c:2"},
		{"zones and capacity types: the capacity types", given(pool("default", two), pods(6, "web", bothKeys)), counts(paid), "on-demand:3 spot:3"},
		{"a node that lacks one key is not counted for the other", given(noPool{}, node("n1", "a", carries("rack", "1")), node("n2", "b", carries("rack", "1")), node("n3", "a", runs(pods(2, "web", cpu(10))...)),
			pods(2, "web1", labelled("app", "web"), spreads("web", zone, 1), spreads("web", "rack", 2))), loads, "1 1"},
		{"zones and an anti-affinity of the node", given(pods(4, "web", spreads("web", zone, 1), apart("web", host))), balance(zone), "2 1 1"},
		{"zones and a volume that pins one pod", given(pvc("data", "pv"), pv("pv", "b"), pod("web1", spreads("web", zone, 1), uses("data")), pods(2, "web2", labelled("app", "web"), spreads("web", zone, 1))), counts(zone), "a:1 b:1 c:1"},
	})
}

// TestSpreadAnyway: ScheduleAnyway is a wish that is weighed against price.
func TestSpreadAnyway(t *testing.T) {
	wish := spreads("web", zone, 1, anyway)
	check(t, []rule{
		{"is granted where it costs nothing", given(pods(6, "web", wish, cpu(2000))), balance(zone), "2 2 2"},
		{"is not granted at any price", given(pool("default", of(machine("small", 2, 8, 1, dearer("b", 50), dearer("c", 50)))), pods(6, "web", wish, cpu(2000))), counts(zone), "a:6"},
		{"leaves nobody out", given(pool("default", of(sizes(soldIn("a"))...)), pods(4, "web", wish, cpu(2000))), counts(zone), "a:4"},
		{"over a label that nothing has leaves nobody out", given(pods(2, "web", spreads("web", "rack", 1, anyway))), loads, "2"},
		{"over nodes does not open a node a pod", given(pods(4, "web", spreads("web", host, 1, anyway))), loads, "4"},
		{"is not looked at where preferences are ignored", given(scheduling.Options{IgnorePreferences: true}, pods(3, "web", wish, cpu(2000))), counts(zone), "a|b|c:3"},
		{"a hard rule is no preference", given(scheduling.Options{IgnorePreferences: true}, pods(3, "web", spreads("web", zone, 1))), counts(zone), "a:1 b:1 c:1"},
	})
}

// TestDefaultSpread is for pods that declare no spread of their own.
func TestDefaultSpread(t *testing.T) {
	hard := scheduling.Options{DefaultSpread: []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zone, WhenUnsatisfiable: corev1.DoNotSchedule}}}
	soft := scheduling.Options{DefaultSpread: []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zone, WhenUnsatisfiable: corev1.ScheduleAnyway}}}
	check(t, []rule{
		{"DoNotSchedule", given(hard, pods(3, "web")), counts(zone), "a:1 b:1 c:1"},
		{"counts the pods with the same labels", given(hard, pods(3, "web"), pods(3, "api")), counts(zone), "a:2 b:2 c:2"},
		{"counts pods that a controller labels one by one", given(hard, pod("web1", labelled("apps.kubernetes.io/pod-index", "0")), pod("web2", labelled("apps.kubernetes.io/pod-index", "1")), pod("web3", labelled("apps.kubernetes.io/pod-index", "2"))), counts(zone), "a:1 b:1 c:1"},
		{"not for pods that have a spread", given(hard, pods(3, "web", spreads("web", host, 3))), loads, "3"},
		{"ScheduleAnyway", given(soft, pods(3, "web", cpu(2000))), counts(zone), "a:1 b:1 c:1"},
		{"ScheduleAnyway where there is one zone", given(soft, pool("default", of(sizes(soldIn("a"))...)), pods(3, "web", cpu(2000))), counts(zone), "a:3"},
	})
}
