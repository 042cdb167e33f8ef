package scheduling_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/scheduling"
)

func TestPodAffinity(t *testing.T) {
	byNode, byZone := near("db", host), near("db", zone)
	inB := node("n1", "b", full, runs(pod("db9")))
	check(t, []rule{
		{"zone: where the other stands", given(inB, pod("web1", byZone)), at(zone), "web1:b"},
		{"zone: where the other is planned", given(pod("db1", selects(zone, "c")), pods(3, "web", byZone)), at(zone), "db1:c web1:c web2:c web3:c"},
		{"zone: all follow the other, wherever that is", given(pod("db1", cpu(8000)), pods(3, "web", byZone)), func(o outcome) string { return balance(zone)(o) }, "4"},
		{"zone: of two zones either will do", given(noPool{}, node("n1", "a", runs(pod("db8"))), node("n2", "b", runs(pod("db9"))), node("n3", "c"), pods(6, "web", byZone)), counts(zone), "a:3 b:3"},
		{"zone: the other's zone cannot be had", given(pool("default", requires(zone, cluster.In, "a")), inB, pod("web1", byZone)), where, "web1:-"},
		{"zone: nobody is there to be near", given(pods(2, "web", byZone)), loads, " left 2"},
		{"zone: the other is left out too", given(pod("db1", cpu(9000)), pod("web1", byZone)), where, "db1:- web1:-"},
		{"zone: a pod that is being deleted is there still", given(node("n1", "b", full, runs(pod("db9", deleting()))), pod("web1", byZone)), at(zone), "web1:b"},
		{"zone: a pod on a cordoned node is there", given(node("n1", "b", closed, runs(pod("db9"))), pod("web1", byZone)), at(zone), "web1:b"},
		{"zone: the node of the other has no zone", given(noPool{}, node("n1", "a", lacks(zone), runs(pod("db9"))), node("n2", "a"), pod("web1", byZone)), where, "web1:-"},
		{"zone: among themselves they go to one", given(pods(6, "web", near("web", zone), cpu(4000))), balance(zone), "6"},
		{"zone: among themselves, they go where they all can", given(pods(2, "web", near("web", zone), cpu(2000)), pod("web3", near("web", zone), selects(zone, "b"))), counts(zone), "b:3"},
		{"zone: among themselves where one stands", given(node("n1", "c", full, runs(pod("web9"))), pods(3, "web", near("web", zone))), counts(zone), "c:3"},
		{"a chain: web near db near disk", given(node("n1", "c", full, runs(pod("disk9"))), pod("db1", near("disk", zone)), pod("web1", byZone)), counts(zone), "c:2"},
		{"a ring: each wants the other", given(pod("db1", near("web", zone)), pod("web1", near("db", zone))), loads, " left 2"},

		{"node: where the other stands", given(node("n1", "a"), node("n2", "a", runs(pod("db9"))), pod("web1", byNode)), where, "web1:n2"},
		{"node: the other's node is full", given(inB, pod("web1", byNode)), where, "web1:-"},
		{"node: the other's node is cordoned", given(node("n1", "b", closed, runs(pod("db9"))), pod("web1", byNode)), where, "web1:-"},
		{"node: as many as fit beside the other", given(node("n1", "a", runs(pod("db9"))), pods(4, "web", byNode)), loads, "3 left 1"},
		{"node: with the other on a new one", given(pod("db1", cpu(2000)), pods(2, "web", byNode)), together, "[db1 web1 web2]"},
		{"node: with the other on a standing one", given(noPool{}, node("n1", "a"), pod("db1"), pods(3, "web", byNode)), together, "[db1 web1 web2 web3]"},
		{"node: among themselves", given(pods(6, "web", near("web", host))), loads, "6"},
		{"node: among themselves, more than a node holds", given(pods(20, "web", near("web", host), cpu(500), memory(0))), loads, "10 left 10"},
		{"node: the node must suit both", given(pod("db1", selects(zone, "b")), pod("web1", byNode, selects(kind, "large"))), choice, "db1:large/b/on-demand web1:large/b/on-demand"},
		{"node: no node suits both", given(pod("db1", selects(zone, "b")), pod("web1", byNode, selects(zone, "a"))), where, "db1:new web1:-"},
		{"the architecture", given(pool("default", of(machine("amd", 2, 8, 1), machine("arm", 2, 8, 2, arm))), pod("db1", selects(arch, "arm64")), pod("web1", near("db", arch))), at(arch), "db1:arm64 web1:arm64"},
		{"a label of the NodePool", given(pool("default", requires("rack", cluster.In, "1", "2")), pod("db1", selects("rack", "2")), pod("web1", near("db", "rack"))), at("rack"), "db1:2 web1:2"},
		{"a beta alias as the key", given(inB, pod("web1", near("db", "failure-domain.beta.kubernetes.io/zone"))), at(zone), "web1:b"},
	})
}

// TestSeveralAffinities: all of a pod's terms hold, and a pod counts for them
// only when it matches them all.
func TestSeveralAffinities(t *testing.T) {
	both := labelled("tier", "data")
	data := func(p *cluster.Pod) {
		near("db", zone)(p)
		t := &p.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*t = append(*t, podTerm("", zone))
		(*t)[len(*t)-1].LabelSelector = &cluster.Selector{MatchLabels: map[string]string{"tier": "data"}}
	}
	check(t, []rule{
		{"one pod matches both", given(node("n1", "b", full, runs(pod("db9", both))), pod("web1", data)), at(zone), "web1:b"},
		{"two pods match one each", given(node("n1", "b", full, runs(pod("db9"))), node("n2", "b", full, runs(pod("x9", both))), pod("web1", data)), where, "web1:-"},
		{"a node and a zone", given(node("n1", "b", runs(pod("db9"))), pod("web1", near("db", zone), near("db", host))), where, "web1:n1"},
	})
}

func TestPodAntiAffinity(t *testing.T) {
	byNode, byZone := apart("web", host), apart("web", zone)
	check(t, []rule{
		{"node: one each", given(pods(3, "web", byNode)), loads, "1 1 1"},
		{"node: standing nodes first", given(node("n1", "a"), node("n2", "a"), pods(3, "web", byNode)), loads, "1 1 1"},
		{"node: not beside one that stands", given(node("n1", "a", runs(pod("web9"))), pod("web1", byNode)), where, "web1:new"},
		{"node: others fill them up", given(pool("default", of(machine("small", 2, 8, 1))), pods(2, "web", byNode), pods(6, "db")), loads, "4 4"},
		{"node: two workloads that mind themselves share", given(pods(3, "web", byNode), pods(3, "api", apart("api", host))), loads, "2 2 2"},
		{"node: two workloads that mind each other", given(pods(2, "web", apart("api", host)), pods(2, "api")), together, "[api1 api2] [web1 web2]"},
		{"zone: one each", given(pods(3, "web", byZone)), counts(zone), "a:1 b:1 c:1"},
		{"zone: no more than zones", given(pods(4, "web", byZone)), balance(zone), "1 1 1 left 1"},
		{"zone: takes the zone that is chosen and no other", given(pod("web1", byZone), pod("web2", byZone, selects(zone, "a"))), counts(zone), "a:1 b:1"},
		{"zone: a standing one takes its zone only", given(node("n1", "a", full, runs(pod("web9"))), pods(2, "web", byZone)), counts(zone), "b:1 c:1"},
		{"zone: those with the least choice come first", given(pods(2, "web", byZone), pod("web3", byZone, selects(zone, "c"))), counts(zone), "a:1 b:1 c:1"},
		{"zone: the dearer zone is taken where it must be", given(pool("default", of(sizes(dearer("c", 5))...)), pods(3, "web", byZone)), counts(zone), "a:1 b:1 c:1"},
		{"the architecture", given(pool("default", of(machine("amd", 2, 8, 1), machine("arm", 2, 8, 2, arm))), pods(3, "web", apart("web", arch))), balance(arch), "1 1 left 1"},
		{"a label that no node has cannot be shared", given(pods(2, "web", apart("web", "rack"))), loads, "2"},
		{"a beta alias as the key", given(pods(3, "web", apart("web", "failure-domain.beta.kubernetes.io/zone"))), counts(zone), "a:1 b:1 c:1"},
		{"a pod that is being deleted is there still", given(noPool{}, node("n1", "a", runs(pod("web9", deleting()))), pod("web1", byNode)), where, "web1:-"},
	})
}

// TestAntiAffinityIsMutual: who declares it keeps the others off, too.
func TestAntiAffinityIsMutual(t *testing.T) {
	shy := pod("shy9", apart("web", zone))
	check(t, []rule{
		{"zone: of a standing pod", given(node("n1", "a", runs(shy)), pods(3, "web", spreads("web", zone, 3))), func(o outcome) string { return map[bool]string{true: "kept off"}[o.tally(zone)["a"] == 0] }, "kept off"},
		{"zone: of standing pods in all zones", given(node("n1", "a", runs(shy)), node("n2", "b", runs(shy)), node("n3", "c", runs(shy)), pod("web1")), where, "web1:-"},
		{"zone: of a standing pod on a cordoned node", given(pool("default", requires(zone, cluster.In, "a")), node("n1", "a", closed, runs(shy)), pod("web1")), where, "web1:-"},
		{"zone: of a standing pod, against others", given(node("n1", "a", runs(shy)), pod("db1", selects(zone, "a"))), where, "db1:n1"},
		{"zone: of a planned pod", given(pod("shy1", apart("web", zone), selects(zone, "b")), pods(2, "web")), func(o outcome) string { return map[bool]string{true: "kept off"}[o.tally(zone)["b"] == 1] }, "kept off"},
		{"node: of a standing pod", given(node("n1", "a", runs(pod("shy9", apart("web", host)))), node("n2", "a"), pod("web1")), where, "web1:n2"},
		{"node: of a planned pod", given(pod("shy1", apart("web", host)), pods(2, "web")), together, "[shy1] [web1 web2]"},
		{"node: of a daemon that stands", given(noPool{}, node("n1", "a", runs(pod("d9", in("kube-system"), apart("web", host, namespaces("default"))))), pod("web1")), where, "web1:-"},
		{"must share a node and must not", given(pod("db1", apart("web", host)), pod("web1", near("db", host))), where, "db1:new web1:-"},
		{"must share a zone and must not", given(pod("db1", apart("web", zone)), pod("web1", near("db", zone))), where, "db1:new web1:-"},
		{"apart by node and near by zone", given(pods(4, "web", apart("web", host), near("web", zone))), balance(zone), "4"},
	})
}

// TestNamespaces: whose pods an affinity or anti-affinity is about.
func TestNamespaces(t *testing.T) {
	data := metav1.LabelSelector{MatchLabels: map[string]string{"team": "data"}}
	spaces := []any{cluster.Namespace{Name: "default"}, cluster.Namespace{Name: "other", Labels: map[string]string{"team": "data"}}, cluster.Namespace{Name: "third"}}
	in2 := func(ns string, p *cluster.Pod) *scheduling.Problem {
		return given(append([]any{noPool{}, node("n1", "a", runs(pod("db9", in(ns)))), p}, spaces...)...)
	}
	check(t, []rule{
		{"its own by default", in2("default", pod("web1", near("db", host))), where, "web1:n1"},
		{"no other by default", in2("other", pod("web1", near("db", host))), where, "web1:-"},
		{"a list", in2("other", pod("web1", near("db", host, namespaces("other", "third")))), where, "web1:n1"},
		{"a list without its own", in2("default", pod("web1", near("db", host, namespaces("other")))), where, "web1:-"},
		{"a selector", in2("other", pod("web1", near("db", host, namespacesWith(data)))), where, "web1:n1"},
		{"a selector that does not select its own", in2("default", pod("web1", near("db", host, namespacesWith(data)))), where, "web1:-"},
		{"an empty selector is all", in2("third", pod("web1", near("db", host, namespacesWith(metav1.LabelSelector{})))), where, "web1:n1"},
		{"an empty selector is all, be they not in the input", in2("unknown", pod("web1", near("db", host, namespacesWith(metav1.LabelSelector{})))), where, "web1:n1"},
		{"a list and a selector: either", in2("third", pod("web1", near("db", host, namespaces("third"), namespacesWith(data)))), where, "web1:n1"},
		{"anti-affinity: its own by default", in2("default", pod("web1", apart("db", host))), where, "web1:-"},
		{"anti-affinity: no other by default", in2("other", pod("web1", apart("db", host))), where, "web1:n1"},
		{"anti-affinity: a selector", in2("other", pod("web1", apart("db", host, namespacesWith(data)))), where, "web1:-"},
		{"anti-affinity: pods of two namespaces that mind their own share", given(pod("web1", apart("web", host)), pod("web2", in("other"), apart("web", host))), loads, "2"},
		{"affinity: pods of two namespaces each want their own", given(node("n1", "a", full, runs(pod("db8"))), node("n2", "b", full, runs(pod("db9", in("other")))), pod("web1", near("db", zone)), pod("web2", in("other"), near("db", zone))), at(zone), "web1:a web2:b"},
	})
}

// TestSelectors: which pods a rule counts.
func TestSelectors(t *testing.T) {
	matching := func(s *cluster.Selector) *scheduling.Problem {
		p := pod("web1", apart("", host))
		p.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector = s
		return given(noPool{}, node("n1", "a", runs(pod("db9", labelled("tier", "data")))), p)
	}
	by := func(key string, op metav1.LabelSelectorOperator, values ...string) *cluster.Selector {
		return &cluster.Selector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: op, Values: values}}}
	}
	check(t, []rule{
		{"no selector matches nobody", matching(nil), where, "web1:n1"},
		{"an empty one everybody", matching(&cluster.Selector{}), where, "web1:-"},
		{"labels", matching(&cluster.Selector{MatchLabels: map[string]string{"tier": "data"}}), where, "web1:-"},
		{"all of the labels", matching(&cluster.Selector{MatchLabels: map[string]string{"tier": "data", "app": "x"}}), where, "web1:n1"},
		{"In", matching(by("tier", metav1.LabelSelectorOpIn, "x", "data")), where, "web1:-"},
		{"In of others", matching(by("tier", metav1.LabelSelectorOpIn, "x", "y")), where, "web1:n1"},
		{"NotIn", matching(by("tier", metav1.LabelSelectorOpNotIn, "data")), where, "web1:n1"},
		{"NotIn of a label that is absent", matching(by("colour", metav1.LabelSelectorOpNotIn, "red")), where, "web1:-"},
		{"Exists", matching(by("tier", metav1.LabelSelectorOpExists)), where, "web1:-"},
		{"DoesNotExist", matching(by("tier", metav1.LabelSelectorOpDoesNotExist)), where, "web1:n1"},
	})
}
