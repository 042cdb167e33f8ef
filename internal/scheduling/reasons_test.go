package scheduling_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/scheduling"
)

// told is a problem and all that is said of the first pod that is left out.
type told struct {
	name  string
	given *scheduling.Problem
	want  []string
}

func checkTold(t *testing.T, cases []told) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			if left := solve(t, c.given).r.Left; len(left) > 0 {
				got = left[0].Reasons
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReasonsWithoutNodes(t *testing.T) {
	checkTold(t, []told{
		{"no pool", given(pod("x"), noPool{}), []string{
			"there is no NodePool that may open nodes: apply one, or make room on the nodes that stand",
		}},
		{"no types", given(pod("x"), pool("p", of())), []string{
			`NodePool "p": its node class has no instance type that is available`,
		}},
		{"the pool wants what is not sold", given(pod("x"), pool("p", requires(arch, cluster.In, "s390x"))), []string{
			`NodePool "p": its own labels and requirements leave no instance type to launch`,
		}},
		{"the pool contradicts itself", given(pod("x"), pool("p", gives("team", "a"), requires("team", cluster.In, "b"))), []string{
			`NodePool "p": its own labels and requirements leave no instance type to launch`,
		}},
		{"the pool contradicts itself, and what would do is unavailable", given(pod("x"), pool("p", of(machine("s", 2, 8, 1, soldOut("a"))), gives("team", "a"), requires("team", cluster.In, "b"))), []string{
			`NodePool "p": its own labels and requirements leave no instance type to launch`,
		}},
	})
}

func TestReasonsOfRequests(t *testing.T) {
	card := machine("card", 8, 32, 10, exotic, has(gpu, 4))
	checkTold(t, []told{
		{"more than any machine has", given(pod("x", cpu(400_000), memory(1000))), []string{
			"asks for 400 cores; the largest instance type has 8 for pods (large)",
			"asks for 1000Gi memory; the largest instance type has 32Gi for pods (large)",
		}},
		{"and no word of it by pool, but of what else is wrong there", given(pod("x", cpu(400_000)), pool("p", tainted("dedicated", noSchedule)), pool("q")), []string{
			"asks for 400 cores; the largest instance type has 8 for pods (large)",
			`NodePool "p": taint dedicated=yes:NoSchedule is not tolerated`,
		}},
		{"more than any machine has, by less than is written", given(pod("x", asks(cluster.Memory, 32*gib+1))), []string{
			"asks for 34359738369 memory; the largest instance type has 32Gi for pods (large)",
		}},
		{"more devices than any machine has", given(pod("x", asks(gpu, 8)), pool("p", of(card))), []string{
			"no instance type has 8 nvidia.com/gpu: the most is 4 (card)",
		}},
		{"a resource that is misspelled", given(pod("x", asks("nvidia.com/gpus", 1)), pool("p", of(card))), []string{
			`no instance type has 1 nvidia.com/gpus; did you mean "nvidia.com/gpu"?`,
		}},
		{"a resource that nothing has", given(pod("x", asks("example.com/fpga", 1)), pool("p", of(card))), []string{
			"no instance type has 1 example.com/fpga",
		}},
		{"devices that the pool leaves out", given(pod("x", asks(gpu, 2)), pool("p", of(machine("s", 2, 8, 1), card), requires(kind, cluster.NotIn, "card"), requires(zone, cluster.In, "a", "b"))), []string{
			`NodePool "p": no type of the pool that suits has 2 nvidia.com/gpu in zones a, b`,
		}},
		{"more devices than the types that suit have", given(pod("x", asks(gpu, 4)), pool("p", of(machine("one", 2, 8, 1, has(gpu, 1)), card), requires(kind, cluster.In, "one"))), []string{
			`NodePool "p": no type of the pool that suits has 4 nvidia.com/gpu in zones a, b, c: the most is 1 (one)`,
		}},
		{"more than the types that suit have", given(pod("x", cpu(6000)), pool("p", requires(kind, cluster.In, "small", "medium"))), []string{
			`NodePool "p": asks for 6 cores; the largest type of the pool that suits has 4 for pods (medium)`,
		}},
		{"more of two resources than the types that suit have", given(pod("x", cpu(6000), memory(20)), pool("p", requires(kind, cluster.In, "small", "medium"))), []string{
			`NodePool "p": asks for 6 cores; the largest type of the pool that suits has 4 for pods (medium); asks for 20Gi memory; the largest type of the pool that suits has 16Gi for pods (medium)`,
		}},
		{"not all together", given(pod("x", cpu(6000), memory(100)), pool("p", of(machine("c", 8, 16, 1), machine("r", 2, 128, 1)))), []string{
			`NodePool "p": no type of the pool that suits has all that it asks for together`,
		}},
		{"daemons leave too little", given(pod("x", cpu(8000)), pool("p", daemon("log", cpu(200)), daemon("net", cpu(100)))), []string{
			`NodePool "p": asks for 8 cores; DaemonSets leave 7.7 of the 8 that the largest type of the pool that suits has (large)`,
		}},
		{"daemons take the places", given(pod("x"), pool("p", of(machine("s", 2, 8, 1, has(cluster.Pods, 1))), daemon("log", cpu(200)))), []string{
			`NodePool "p": asks for 1 pods; DaemonSets leave 0 of the 1 that the largest type of the pool that suits has (s)`,
		}},
		{"more volumes than a node attaches", given(pod("x", uses("a"), uses("b")), pvc("a", "a"), pvc("b", "b"), pv("a", "a"), pv("b", "a"), pool("p", of(machine("s", 2, 8, 1, volumes(1))))), []string{
			"uses 2 volumes of ebs.csi.aws.com; no instance type attaches more than 1 (s)",
		}},
	})
}

func TestReasonsOfLabels(t *testing.T) {
	checkTold(t, []told{
		{"a label that the pool lacks", given(pod("x", selects("team", "web")), pool("p")), []string{
			`NodePool "p": defines no label team (add it to spec.template.metadata.labels or drop what asks for it)`,
		}},
		{"two of them", given(pod("x", selects("team", "web"), selects("tier", "1")), pool("p")), []string{
			`NodePool "p": defines no label team, tier (add it to spec.template.metadata.labels or drop what asks for it)`,
		}},
		{"one that is misspelled", given(pod("x", selects("teem", "web")), pool("p", gives("team", "web"))), []string{
			`NodePool "p": defines no label teem (add it to spec.template.metadata.labels or drop what asks for it); did you mean "team"?`,
		}},
		{"a well-known one that is misspelled", given(pod("x", selects("topology.kubernetes.io/zones", "a")), pool("p")), []string{
			`NodePool "p": defines no label topology.kubernetes.io/zones (add it to spec.template.metadata.labels or drop what asks for it); did you mean "topology.kubernetes.io/zone"?`,
		}},
		{"a value that the pool does not give", given(pod("x", selects("team", "db")), pool("p", gives("team", "web"))), []string{
			`NodePool "p": requirement team In [db] against In [web]`,
		}},
		{"a value that is misspelled", given(pod("x", selects("team", "backend")), pool("p", requires("team", cluster.In, "front-end", "back-end"))), []string{
			`NodePool "p": requirement team In [backend] against In [back-end, front-end]; did you mean "back-end"?`,
		}},
		{"a value that the pool rules out", given(pod("x", selects(arch, "arm64")), pool("p", requires(arch, cluster.In, "amd64"))), []string{
			`NodePool "p": requirement kubernetes.io/arch In [arm64] against In [amd64]`,
		}},
		{"a value that no type has", given(pod("x", selects(arch, "arm64")), pool("p")), []string{
			`NodePool "p": requirement kubernetes.io/arch In [arm64], and its types have [amd64]`,
		}},
		{"a value in another case", given(pod("x", selects(cluster.LabelOS, "Linux")), pool("p")), []string{
			`NodePool "p": requirement kubernetes.io/os In [Linux], and its types have [linux]; did you mean "linux"?`,
		}},
		{"another zone is not a misspelling", given(pod("x", selects(zone, "us-east-1d")), pool("p", of(machine("s", 2, 8, 1, soldAs("us-east-1a"))))), []string{
			`NodePool "p": requirement topology.kubernetes.io/zone In [us-east-1d], and its types have [us-east-1a]`,
		}},
		{"a zone that is misspelled", given(pod("x", selects(zone, "us-east1-a")), pool("p", of(machine("s", 2, 8, 1, soldAs("us-east-1a"))))), []string{
			`NodePool "p": requirement topology.kubernetes.io/zone In [us-east1-a], and its types have [us-east-1a]; did you mean "us-east-1a"?`,
		}},
		{"bounds", given(pod("x", wants(exprs{expr("karpenter.k8s.aws/instance-cpu", "Gt", "64"), expr("karpenter.k8s.aws/instance-cpu", "Lt", "128")})), pool("p")), []string{
			`NodePool "p": requirement karpenter.k8s.aws/instance-cpu Gte [65] and Lte [127], and its types have [2, 4, 8]`,
		}},
		{"what cannot be had together", given(pod("x", selects(arch, "arm64"), selects(zone, "b")), pool("p", of(machine("s", 2, 8, 1), machine("g", 2, 8, 1, arm, soldIn("a"))))), []string{
			`NodePool "p": no type or offering meets together requirement kubernetes.io/arch In [arm64], requirement topology.kubernetes.io/zone In [b]`,
		}},
		{"another pool by its name", given(pod("x", selects(cluster.LabelNodePool, "defualt")), pool("default"), pool("gpu"), pool("web")), []string{
			`NodePool "default": requirement karpenter.sh/nodepool In [defualt], which is another; did you mean "default"?`,
			`NodePools "gpu", "web": requirement karpenter.sh/nodepool In [defualt], which is another`,
		}},
		{"a node by its name", given(pod("x", selects(host, "n")), pool("p")), []string{
			`NodePool "p": requirement kubernetes.io/hostname In [n]: a new node has a name of its own`,
		}},
		{"of two terms the nearer", given(pod("x", wants(exprs{expr("team", "Exists")}, exprs{expr(arch, "In", "arm64")})), pool("p")), []string{
			`NodePool "p": requirement kubernetes.io/arch In [arm64], and its types have [amd64]`,
		}},
		{"a volume in another zone", given(pod("x", uses("data")), pvc("data", "v"), pv("v", "d"), pool("p"), pool("q", requires(zone, cluster.In, "a"))), []string{
			`NodePool "p": its volume "data" requires topology.kubernetes.io/zone In [d], and its types have [a, b, c]`,
			`NodePool "q": its volume "data" requires topology.kubernetes.io/zone In [d] against In [a]`,
		}},
		{"many values", given(pod("x", wants(exprs{expr(zone, "In", "p", "q", "r", "s", "t", "u")})), pool("p")), []string{
			`NodePool "p": requirement topology.kubernetes.io/zone In [p, q, r and 3 more], and its types have [a, b, c]`,
		}},
	})
}

// soldAs sells the type in one zone of another name.
func soldAs(z string) func(*cluster.InstanceType) {
	return func(t *cluster.InstanceType) {
		t.Offerings = t.Offerings[:1]
		t.Offerings[0].Zone = z
	}
}

func TestReasonsOfPools(t *testing.T) {
	checkTold(t, []told{
		{"a taint", given(pod("x"), pool("p", tainted("dedicated", noSchedule))), []string{
			`NodePool "p": taint dedicated=yes:NoSchedule is not tolerated`,
		}},
		{"a taint that several have", given(pod("x"), pool("p", tainted("dedicated", noSchedule)), pool("q", tainted("dedicated", noSchedule)), pool("r", tainted("other", noSchedule))), []string{
			`NodePools "p", "q": taint dedicated=yes:NoSchedule is not tolerated`,
			`NodePool "r": taint other=yes:NoSchedule is not tolerated`,
		}},
		{"what ran out first, then what has no type for the pod, then what does not suit", given(pod("x", cpu(8000)), pool("tainted", weight(50), tainted("dedicated", noSchedule)), pool("light", limited(cluster.CPU, 4000)),
			pool("heavy", weight(10), of(machine("s", 2, 8, 1)))), []string{
			`NodePool "light": limit cpu 4 reached (0 in use, 0 planned; the smallest type that holds the pod counts 8, large)`,
			`NodePool "heavy": asks for 8 cores; the largest type of the pool that suits has 2 for pods (s)`,
			`NodePool "tainted": taint dedicated=yes:NoSchedule is not tolerated`,
		}},
		{"a limit", given(pods(20, "x", cpu(2000)), pool("p", limited(cluster.CPU, 20_000), using(cluster.CPU, 8000))), []string{
			`NodePool "p": limit cpu 20 reached (8 in use, 12 planned; the smallest type that holds the pod counts 2, small)`,
		}},
		{"a limit on nodes", given(pods(20, "x", cpu(2000)), pool("p", of(machine("s", 2, 8, 1)), limited(cluster.Nodes, 4), using(cluster.Nodes, 3))), []string{
			`NodePool "p": limit nodes 4 reached (3 in use, 1 planned)`,
		}},
		{"two limits", given(pod("x"), pool("p", limited(cluster.CPU, 1000), limited(cluster.Memory, 6*gib+gib/4), using(cluster.Memory, 4*gib))), []string{
			`NodePool "p": limit cpu 1 reached (0 in use, 0 planned; the smallest type that holds the pod counts 2, small); limit memory 6.2Gi reached (4Gi in use, 0 planned; the smallest type that holds the pod counts 8Gi, small)`,
		}},
		{"limits that only together are too low", given(pod("x"), pool("p", limited(cluster.CPU, 2000), limited(cluster.Memory, 8*gib), of(machine("c", 2, 16, 1), machine("r", 4, 8, 1)))), []string{
			`NodePool "p": its limits together leave no type that holds the pod`,
		}},
		{"what would do is unavailable", given(pod("x", selects(zone, "b")), pool("p", of(sizes(soldOut("b"))...))), []string{
			`NodePool "p": no available offering: what would do (large, medium, small) is unavailable in b`,
		}},
		{"what has the devices is unavailable", given(pod("x", asks(gpu, 1)), pool("p", of(machine("s", 2, 8, 1), machine("g", 2, 8, 1, has(gpu, 1), soldOut("a"), soldOut("b"), soldOut("c"))))), []string{
			`NodePool "p": no available offering: what would do (g) is unavailable in a, b, c`,
		}},
		{"everything is unavailable, and too small", given(pod("x", cpu(6000)), pool("p", of(machine("s", 2, 8, 1, soldIn("a"), soldOut("a")))), pool("q", of(machine("l", 8, 32, 1)), tainted("dedicated", noSchedule))), []string{
			`NodePool "p": its node class has no instance type that is available`,
			`NodePool "q": taint dedicated=yes:NoSchedule is not tolerated`,
		}},
		{"a reservation that is used up", given(pods(2, "x", cpu(2000), selects(paid, cluster.Reserved)), pool("p", of(machine("s", 2, 8, 1, reserved("cr-1", "a", 1))))), []string{
			`NodePool "p": capacity reservation cr-1 has no instance left`,
		}},
		{"a reservation that was used up before", given(pod("x", selects(paid, cluster.Reserved)), pool("p", of(machine("s", 2, 8, 1, reserved("cr-1", "a", 0))))), []string{
			`NodePool "p": no available offering: what would do (s) is unavailable in a`,
		}},
		{"minValues", given(pod("x", cpu(6000)), pool("p", requiresMin(2, kind, cluster.Exists))), []string{
			`NodePool "p": minValues 2 of node.kubernetes.io/instance-type cannot be kept (1 left)`,
		}},
		{"minValues within a limit", given(pod("x"), pool("p", limited(cluster.CPU, 4000), requiresMin(3, kind, cluster.Exists))), []string{
			`NodePool "p": minValues 3 of node.kubernetes.io/instance-type cannot be kept (2 left)`,
		}},
		{"a daemon's host port", given(pod("x", port(8080, "TCP", "")), pool("p", daemon("d", port(8080, "TCP", "")))), []string{
			`NodePool "p": a DaemonSet has one of its host ports on every node`,
		}},
	})
}

func TestReasonsOfTopology(t *testing.T) {
	ab, c := of(sizes(soldIn("a", "b"))...), of(sizes(soldIn("c"))...)
	checkTold(t, []told{
		{"a spread, and the emptiest zone has a full node alone", given(pods(4, "x", spreads("x", zone, 1)), pool("p", ab), node("n", "c", full)), []string{
			"spread over topology.kubernetes.io/zone (maxSkew 1): c, the emptiest domain (it has 0), can take no pod because no NodePool that suits may open nodes there",
			"standing nodes (1): 1 short of cpu",
		}},
		{"a spread, and the emptiest zone's pool is at its limit", given(pods(3, "x", spreads("x", zone, 1)), pool("p", ab), pool("q", c, limited(cluster.Nodes, 1), using(cluster.Nodes, 1))), []string{
			`spread over topology.kubernetes.io/zone (maxSkew 1): c, the emptiest domain (it has 0), can take no pod because NodePool "q": limit nodes 1 reached (1 in use, 0 planned)`,
			`NodePool "q": limit nodes 1 reached (1 in use, 0 planned)`,
		}},
		{"a spread, and every pool is at its limit", given(pods(9, "x", cpu(2000), spreads("x", zone, 1)), pool("p", of(sizes(soldIn("a", "b"))[:1]...), limited(cluster.CPU, 4000))), []string{
			`NodePool "p": limit cpu 4 reached (0 in use, 4 planned; the smallest type that holds the pod counts 2, small)`,
		}},
		{"minDomains", given(pods(4, "x", spreads("x", zone, 1, minDomains(5)))), []string{
			"spread over topology.kubernetes.io/zone (maxSkew 1, minDomains 5): only 3 of the domains that it needs can be had, so that each may take 1 at most",
		}},
		{"a spread over a label that the pool does not give", given(pod("x", spreads("x", "rack", 1))), []string{
			`NodePool "default": defines no label rack (add it to spec.template.metadata.labels or drop what asks for it)`,
		}},
		{"a spread over a key that is misspelled", given(pod("x", spreads("x", "topology.kubernetes.io/zones", 1))), []string{
			`NodePool "default": defines no label topology.kubernetes.io/zones (add it to spec.template.metadata.labels or drop what asks for it); did you mean "topology.kubernetes.io/zone"?`,
		}},
		{"a spread over a label that only another pool gives, which is at its limit", given(pod("x", spreads("x", "rack", 1)), pool("p", gives("rack", "1"), limited(cluster.CPU, 0)), pool("q")), []string{
			`NodePool "p": limit cpu 0 reached (0 in use, 0 planned; the smallest type that holds the pod counts 2, small)`,
			`NodePool "q": defines no label rack (add it to spec.template.metadata.labels or drop what asks for it)`,
		}},
		{"affinity to nobody", given(pod("x", near("db", zone))), []string{
			"required affinity over topology.kubernetes.io/zone to pods with app=db: there is none",
		}},
		{"affinity to nobody, and a taint", given(pod("x", near("db", zone)), pool("p", tainted("dedicated", noSchedule))), []string{
			"required affinity over topology.kubernetes.io/zone to pods with app=db: there is none",
			`NodePool "p": taint dedicated=yes:NoSchedule is not tolerated`,
		}},
		{"affinity to those who wait in vain", given(pod("a", near("db", zone)), pod("db", cpu(100_000))), []string{
			"required affinity over topology.kubernetes.io/zone to pods with app=db: none runs, and the 1 that wait find no place themselves",
		}},
		{"affinity to pods of no namespace", given(pod("x", near("db", zone, namespacesWith(metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}})))), []string{
			"required affinity over topology.kubernetes.io/zone to pods with app=db: no namespace matches its namespaceSelector",
		}},
		{"affinity to pods of another namespace", given(pod("x", near("db", zone, namespaces("data")))), []string{
			"required affinity over topology.kubernetes.io/zone to pods with app=db in namespace data: there is none",
		}},
		{"affinity to pods of any namespace", given(pod("x", near("db", zone, namespacesWith(metav1.LabelSelector{})))), []string{
			"required affinity over topology.kubernetes.io/zone to pods with app=db in any namespace: there is none",
		}},
		{"affinity to pods where no pool makes nodes", given(pod("x", near("db", zone)), node("n", "d", full, runs(pod("db")))), []string{
			"required affinity over topology.kubernetes.io/zone to pods with app=db: 1 of them are in d, where it can go nowhere because no NodePool that suits may open nodes there",
			"standing nodes (1): 1 short of cpu",
		}},
		{"affinity to pods where the pool is at its limit", given(pod("x", near("db", zone)), pool("p", ab), pool("q", c, limited(cluster.CPU, 1000)), node("n", "c", full, runs(pod("db")))), []string{
			`required affinity over topology.kubernetes.io/zone to pods with app=db: 1 of them are in c, where it can go nowhere because NodePool "q": limit cpu 1 reached (0 in use, 0 planned; the smallest type that holds the pod counts 2, small)`,
			`NodePool "q": limit cpu 1 reached (0 in use, 0 planned; the smallest type that holds the pod counts 2, small)`,
			"standing nodes (1): 1 short of cpu",
		}},
		{"affinity to a pod on a full node", given(pod("x", near("db", host)), node("n", "a", runs(pod("db", cpu(1800))))), []string{
			"required affinity over kubernetes.io/hostname to pods with app=db: there are 1, on nodes that have no place for it",
			"standing nodes (1): 1 short of cpu",
		}},
		{"anti-affinity in every zone", given(pods(4, "x", apart("x", zone))), []string{
			"required anti-affinity over topology.kubernetes.io/zone to pods with app=x: there are some in a (1), b (1), c (1), and no other domain can be had",
		}},
		{"anti-affinity in every zone but one at its limit", given(pods(3, "x", apart("x", zone)), pool("p", ab), pool("q", c, limited(cluster.CPU, 0))), []string{
			`required anti-affinity over topology.kubernetes.io/zone to pods with app=x: there are some in a (1), b (1); c is free of them, but NodePool "q": limit cpu 0 reached (0 in use, 0 planned; the smallest type that holds the pod counts 2, small)`,
			`NodePool "q": limit cpu 0 reached (0 in use, 0 planned; the smallest type that holds the pod counts 2, small)`,
		}},
		{"anti-affinity of others", given(pod("x"), node("a", "a", full, runs(pod("z", apart("x", zone)))), node("b", "b", full, runs(pod("z2", apart("x", zone)))), node("c", "c", full, runs(pod("z3", apart("x", zone))))), []string{
			"required anti-affinity of other pods over topology.kubernetes.io/zone to pods with app=x: it keeps this one out of a, b, c, and no other domain can be had",
			"standing nodes (3): 3 short of cpu",
		}},
		{"rules of two keys", given(pods(4, "x", spreads("x", zone, 1), apart("x", paid)), pool("p", of(sizes(spotAt(0.5))...))), []string{
			"required anti-affinity over karpenter.sh/capacity-type to pods with app=x: there are some in on-demand (1), spot (1), and no other domain can be had",
			"spread over topology.kubernetes.io/zone (maxSkew 1): c, the emptiest domain (it has 0), can take no pod because its other rules leave no node there",
		}},
	})
}

func TestReasonsOfStandingNodes(t *testing.T) {
	checkTold(t, []told{
		{"all kinds", given(pod("x", port(8080, "TCP", ""), selects(arch, "amd64")), noPool{}, node("n1", "a", full), node("n2", "a", full), node("n3", "b", closed),
			node("n4", "b", taint("dedicated", noSchedule)), node("n5", "b", taint(corev1.TaintNodeUnschedulable, noSchedule), closed), node("n6", "b", carries(arch, "arm64")),
			node("n7", "b", runs(pod("web", port(8080, "TCP", ""))))), []string{
			"there is no NodePool that may open nodes: apply one, or make room on the nodes that stand",
			"standing nodes (7): 2 short of cpu, 1 closed (cordoned, going away or not ready), 1 cordoned, 1 outside of its node selector, affinity or volumes, 1 tainted (dedicated=yes:NoSchedule), 1 with host port 8080/TCP taken",
		}},
		{"one", given(pod("x"), noPool{}, node("n", "a", room(cluster.Memory, gib/2))), []string{
			"there is no NodePool that may open nodes: apply one, or make room on the nodes that stand",
			"standing nodes (1): 1 short of memory",
		}},
		{"by name", given(pod("x", selects(host, "n1")), noPool{}, node("n1", "a", full), node("n2", "a")), []string{
			"there is no NodePool that may open nodes: apply one, or make room on the nodes that stand",
			"standing nodes (2): 1 outside of its node selector, affinity or volumes, 1 short of cpu",
		}},
		{"topology", given(pod("x", apart("y", zone), near("z", host), apart("w", host)), noPool{}, node("n1", "a", runs(pod("y"), pod("z"))), node("n2", "b"), node("n3", "c", runs(pod("z"), pod("w")))), []string{
			"there is no NodePool that may open nodes: apply one, or make room on the nodes that stand",
			"required affinity over kubernetes.io/hostname to pods with app=z: there are 2, on nodes that have no place for it",
			"standing nodes (3): 1 ruled out by affinity over kubernetes.io/hostname, 1 ruled out by anti-affinity over kubernetes.io/hostname, 1 ruled out by anti-affinity over topology.kubernetes.io/zone",
		}},
		{"volumes", given(pod("x", uses("a")), pvc("a", "a"), pv("a", "a"), noPool{}, node("n1", "a", attaches(ebs, 0)), node("n2", "b")), []string{
			"there is no NodePool that may open nodes: apply one, or make room on the nodes that stand",
			"standing nodes (2): 1 outside of its node selector, affinity or volumes, 1 short of volumes of ebs.csi.aws.com",
		}},
		{"no label to spread over", given(pod("x", spreads("x", "rack", 1)), noPool{}, node("n1", "a")), []string{
			"there is no NodePool that may open nodes: apply one, or make room on the nodes that stand",
			"standing nodes (1): 1 ruled out by spread over rack",
		}},
		{"after the pools", given(pod("x"), pool("p", tainted("dedicated", noSchedule)), node("n1", "a", full)), []string{
			`NodePool "p": taint dedicated=yes:NoSchedule is not tolerated`,
			"standing nodes (1): 1 short of cpu",
		}},
	})
}

// However much there is to say, a person is told twelve things, each short, and
// what stands is among them.
func TestReasonsAreFew(t *testing.T) {
	parts := []any{pod("x", selects("team", "web")), node("n", "a", full)}
	for i := range 30 {
		parts = append(parts, pool("p"+strconv.Itoa(i), gives("team", strings.Repeat("long-", 100)+strconv.Itoa(i))))
	}
	got := solve(t, given(parts...)).r.Left[0].Reasons
	if len(got) != 12 || got[10] != "and 20 more reasons" || !strings.HasPrefix(got[11], "standing nodes") {
		t.Errorf("got %d reasons: %q", len(got), got)
	}
	for _, r := range got {
		if n := utf8.RuneCountInString(r); n > 300 {
			t.Errorf("%d characters: %s", n, r)
		}
	}
}

// A class of pods has one set of reasons, and another class another.
func TestReasonsByClass(t *testing.T) {
	o := solve(t, given(pods(2, "big", cpu(9000)), pods(2, "odd", selects("team", "web")), pool("p")))
	var got []string
	for _, l := range o.r.Left {
		got = append(got, fmt.Sprintf("%s: %s", o.p.Pods[l.Pod].Name, l.Reasons[0]))
	}
	slices.Sort(got)
	want := []string{
		"big1: asks for 9 cores; the largest instance type has 8 for pods (large)",
		"big2: asks for 9 cores; the largest instance type has 8 for pods (large)",
		`odd1: NodePool "p": defines no label team (add it to spec.template.metadata.labels or drop what asks for it)`,
		`odd2: NodePool "p": defines no label team (add it to spec.template.metadata.labels or drop what asks for it)`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
