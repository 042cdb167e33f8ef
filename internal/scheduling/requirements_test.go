package scheduling_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/scheduling"
)

const (
	cores  = "karpenter.k8s.aws/instance-cpu"
	family = "karpenter.k8s.aws/instance-family"
)

func TestNodeSelectorAndAffinity(t *testing.T) {
	mixed := pool("default", of(machine("amd", 2, 8, 1), machine("arm", 2, 8, 2, arm)))
	check(t, []rule{
		{"no demand takes what is cheapest", given(mixed, pod("x")), typed, "x:amd"},
		{"a selector", given(mixed, pod("x", selects(arch, "arm64"))), typed, "x:arm"},
		{"a selector of a zone", given(pod("x", selects(zone, "b"))), at(zone), "x:b"},
		{"a selector of a zone's id", given(pod("x", selects(cluster.LabelZoneID, "id-b"))), at(zone), "x:b"},
		{"a selector of a type", given(pod("x", selects(kind, "large"))), typed, "x:large"},
		{"a selector of a value that nothing has", given(pod("x", selects(zone, "d"))), where, "x:-"},
		{"a selector and an affinity must both hold", given(pod("x", selects(zone, "b"), wants(exprs{expr(zone, "In", "a", "b")}))), at(zone), "x:b"},
		{"a selector and an affinity that exclude each other", given(pod("x", selects(zone, "a"), wants(exprs{expr(zone, "In", "b")}))), where, "x:-"},
		{"a beta alias as a selector", given(mixed, pod("x", selects("beta.kubernetes.io/arch", "arm64"))), typed, "x:arm"},
		{"a beta alias in an affinity", given(pod("x", wants(exprs{expr("failure-domain.beta.kubernetes.io/zone", "In", "c")}))), at(zone), "x:c"},
		{"a beta alias of the type", given(pod("x", selects("beta.kubernetes.io/instance-type", "medium"))), typed, "x:medium"},
		{"the current name and its alias at odds", given(pod("x", selects(zone, "a"), wants(exprs{expr("failure-domain.beta.kubernetes.io/zone", "In", "c")}))), where, "x:-"},
		{"the operating system", given(pod("x", selects(cluster.LabelOS, "windows"))), where, "x:-"},
		{"the region", given(pod("x", selects(cluster.LabelRegion, "r"))), where, "x:new"},
		{"the NodePool by name", given(pool("one"), pool("two"), pod("x", selects(cluster.LabelNodePool, "two"))), pooled, "x:two"},

		{"OR-terms, the first can be had", given(pod("x", wants(exprs{expr(zone, "In", "b")}, exprs{expr(zone, "In", "d")}))), at(zone), "x:b"},
		{"OR-terms, only the last can be had", given(pod("x", wants(exprs{expr(zone, "In", "d")}, exprs{expr(zone, "In", "b")}))), at(zone), "x:b"},
		{"OR-terms, none can be had", given(pod("x", wants(exprs{expr(zone, "In", "d")}, exprs{expr(zone, "In", "e")}))), where, "x:-"},
		{"OR-terms are not mixed with each other", given(mixed, pod("x", wants(
			exprs{expr(zone, "In", "a"), expr(arch, "In", "arm64")}, exprs{expr(zone, "In", "b"), expr(arch, "In", "amd64")}))), choice, "x:amd/b/on-demand"},
		{"a term without expressions matches nothing", given(pod("x", wants(exprs{}))), where, "x:-"},
		{"an empty term beside another", given(pod("x", wants(exprs{}, exprs{expr(zone, "In", "b")}))), at(zone), "x:b"},
		{"OR-terms over the pool's own labels, the second can be had", given(pool("default", requires("team", cluster.In, "x")),
			pod("x", wants(exprs{expr("team", "In", "y")}, exprs{expr("team", "In", "x")}))), where, "x:new"},
	})
}

// TestOperators asks for the cores of types with 2, 4 and 8 of them, and sees
// which type is the cheapest that is left.
func TestOperators(t *testing.T) {
	one := func(op corev1.NodeSelectorOperator, values ...string) *scheduling.Problem {
		return given(pod("x", wants(exprs{expr(cores, op, values...)})))
	}
	ofPool := func(op cluster.Operator, values ...string) *scheduling.Problem {
		return given(pool("default", requires(cores, op, values...)), pod("x"))
	}
	check(t, []rule{
		{"In", one("In", "4", "8"), typed, "x:medium"},
		{"In, a list with what nothing has", one("In", "3", "8"), typed, "x:large"},
		{"NotIn", one("NotIn", "2"), typed, "x:medium"},
		{"NotIn everything", one("NotIn", "2", "4", "8"), typed, "x:-"},
		{"Exists", one("Exists"), typed, "x:small"},
		{"DoesNotExist of a label that all have", one("DoesNotExist"), typed, "x:-"},
		{"Gt", one("Gt", "2"), typed, "x:medium"},
		{"Gt of the largest", one("Gt", "8"), typed, "x:-"},
		{"Lt", one("Lt", "3"), typed, "x:small"},
		{"Lt of the smallest", one("Lt", "2"), typed, "x:-"},
		{"Gt and Lt together", given(pod("x", wants(exprs{expr(cores, "Gt", "2"), expr(cores, "Lt", "8")}))), typed, "x:medium"},
		{"Gt and In together", given(pod("x", wants(exprs{expr(cores, "Gt", "2"), expr(cores, "In", "2", "8")}))), typed, "x:large"},
		{"Gt compares numbers, not text", given(pool("default", of(machine("nine", 9, 36, 1), machine("ten", 10, 40, 2))), pod("x", wants(exprs{expr(cores, "Gt", "9")}))), typed, "x:ten"},
		{"Gt of a label that is no number", given(pod("x", wants(exprs{expr(family, "Gt", "1")}))), typed, "x:-"},

		{"a NodePool's In", ofPool(cluster.In, "4"), typed, "x:medium"},
		{"a NodePool's NotIn", ofPool(cluster.NotIn, "2", "4"), typed, "x:large"},
		{"a NodePool's Exists", ofPool(cluster.Exists), typed, "x:small"},
		{"a NodePool's DoesNotExist", ofPool(cluster.DoesNotExist), typed, "x:-"},
		{"a NodePool's Gt", ofPool(cluster.Gt, "2"), typed, "x:medium"},
		{"a NodePool's Gte", ofPool(cluster.Gte, "4"), typed, "x:medium"},
		{"a NodePool's Lt", ofPool(cluster.Lt, "4"), listed, "[small]"},
		{"a NodePool's Lte", ofPool(cluster.Lte, "4"), listed, "[medium small]"},
		{"a NodePool's Gte and a pod's Lt", given(pool("default", requires(cores, cluster.Gte, "4")), pod("x", wants(exprs{expr(cores, "Lt", "8")}))), listed, "[medium]"},
		{"a NodePool's requirement by an alias", given(pool("default", requires("failure-domain.beta.kubernetes.io/zone", cluster.In, "c")), pod("x")), at(zone), "x:c"},
		{"a NodePool's template label on a well-known key", given(pool("default", gives(kind, "medium")), pod("x")), listed, "[medium]"},
	})
}

// TestCustomLabels is about labels that types do not have: a NodePool must define
// them before a pod can ask for them.
func TestCustomLabels(t *testing.T) {
	team := func(values ...string) scheduling.Pool {
		return pool("default", requires("team", cluster.In, values...))
	}
	asking := func(op corev1.NodeSelectorOperator, values ...string) *cluster.Pod {
		return pod("x", wants(exprs{expr("team", op, values...)}))
	}
	check(t, []rule{
		{"nobody defines it", given(pod("x", selects("team", "x"))), where, "x:-"},
		{"nobody defines it, In", given(asking("In", "x")), where, "x:-"},
		{"nobody defines it, Exists", given(asking("Exists")), where, "x:-"},
		{"nobody defines it, NotIn is met by absence", given(asking("NotIn", "x")), where, "x:new"},
		{"nobody defines it, DoesNotExist", given(asking("DoesNotExist")), where, "x:new"},
		{"nobody defines it, Gt", given(asking("Gt", "1")), where, "x:-"},
		{"a template label", given(pool("default", gives("team", "x")), pod("x", selects("team", "x"))), at("team"), "x:x"},
		{"a template label of another value", given(pool("default", gives("team", "y")), pod("x", selects("team", "x"))), where, "x:-"},
		{"a template label, NotIn", given(pool("default", gives("team", "x")), asking("NotIn", "x")), where, "x:-"},
		{"a template label, DoesNotExist", given(pool("default", gives("team", "x")), asking("DoesNotExist")), where, "x:-"},
		{"a template label, Gt", given(pool("default", gives("team", "7")), asking("Gt", "6")), where, "x:new"},
		{"a requirement decides the label", given(team("x", "y"), pod("x", selects("team", "y"))), at("team"), "x:y"},
		{"a requirement that excludes the value", given(team("y"), pod("x", selects("team", "x"))), where, "x:-"},
		{"a requirement, Exists", given(team("y"), asking("Exists")), at("team"), "x:y"},
		{"a requirement, DoesNotExist", given(team("y"), asking("DoesNotExist")), where, "x:-"},
		{"a requirement of Exists lets the pod name the value", given(pool("default", requires("team", cluster.Exists)), pod("x", selects("team", "z"))), at("team"), "x:z"},
		{"two pods that name different values need two nodes", given(team("x", "y"), pod("x1", selects("team", "x")), pod("x2", selects("team", "y"))), at("team"), "x1:x x2:y"},
		{"two pods that name one value share", given(team("x", "y"), pod("x1", selects("team", "x")), pod("x2", selects("team", "x"))), together, "[x1 x2]"},
		{"the pool that defines it, of two", given(pool("one"), pool("two", gives("team", "x")), pod("x", selects("team", "x"))), pooled, "x:two"},
		{"a pod that wants absence and one that wants the label", given(pool("one"), pool("two", gives("team", "x")),
			pod("x1", wants(exprs{expr("team", "DoesNotExist")})), pod("x2", selects("team", "x"))), pooled, "x1:one x2:two"},
		{"a well-known label may be undefined", given(pod("x", wants(exprs{expr(family, "In", "l")}))), typed, "x:large"},
		{"a well-known label that no type has", given(pod("x", wants(exprs{expr("karpenter.k8s.aws/instance-gpu-name", "In", "a100")}))), where, "x:-"},
		{"a well-known label that no type has, DoesNotExist", given(pod("x", wants(exprs{expr("karpenter.k8s.aws/instance-gpu-name", "DoesNotExist")}))), where, "x:new"},
		{"the hostname of a node to be made", given(pod("x", selects(host, "n1"))), where, "x:-"},
	})
}

// TestMatchFields: new nodes have no name yet that a pod could ask for.
func TestMatchFields(t *testing.T) {
	named := func(p *cluster.Pod) {
		nodeAffinityOf(p).RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{
			{MatchFields: []corev1.NodeSelectorRequirement{expr("metadata.name", "In", "n1")}}}}
	}
	check(t, []rule{
		{"is refused with a reason", given(pod("x", named)), why,
			"its required node affinity uses matchFields, which tie it to one node by name: use matchExpressions on labels"},
	})
}

// TestMinValues: so many different values must remain among the types that a
// node may be launched as.
func TestMinValues(t *testing.T) {
	ten := []cluster.InstanceType{machine("a1", 2, 8, 1), machine("a2", 4, 16, 2), machine("b1", 2, 8, 1.1), machine("c1", 8, 32, 4)}
	families := func(n int, changes ...func(*scheduling.Pool)) scheduling.Pool {
		p := pool("default", of(ten...), requiresMin(n, family, cluster.Exists))
		for _, c := range changes {
			c(&p)
		}
		return p
	}
	bestEffort := scheduling.Options{MinValuesBestEffort: true}
	check(t, []rule{
		{"enough families hold the pod", given(families(3), pod("x")), listed, "[a1 a2 b1 c1]"},
		{"a pod that too few families hold is left out", given(families(3), pod("x", cpu(3000))), where, "x:-"},
		{"as many as there must be hold it", given(families(2), pod("x", cpu(3000))), listed, "[a2 c1]"},
		{"the load of a node is kept small enough", given(families(3), pods(8, "x")), loads, "4 4"},
		{"a pod's own demand counts", given(families(2), pod("x", wants(exprs{expr(family, "In", "a")}))), where, "x:-"},
		{"a pod's own demand leaves enough", given(families(2), pod("x", wants(exprs{expr(family, "In", "a", "b")}))), listed, "[a1 a2 b1]"},
		{"more than there are", given(families(4), pod("x")), where, "x:-"},
		{"of the type", given(pool("default", requiresMin(2, kind, cluster.In, "small", "medium", "large")), pod("x", cpu(3000))), listed, "[large medium]"},
		{"of the type, too few are large enough", given(pool("default", requiresMin(2, kind, cluster.In, "small", "medium", "large")), pod("x", cpu(6000))), where, "x:-"},
		{"best effort plans with what is left", given(families(3), pod("x", cpu(3000)), bestEffort), listed, "[a2 c1]"},
		{"best effort of more than there are", given(families(4), pod("x"), bestEffort), where, "x:new"},
		{"best effort does not hold a load small", given(families(3), pods(8, "x"), bestEffort), together, "[x1 x2 x3 x4 x5 x6 x7 x8]"},
		{"two requirements with minValues", given(families(2, requiresMin(3, kind, cluster.Exists)), pod("x", cpu(3000))), where, "x:-"},
		{"a limit may not take away what minValues needs", given(families(3, limited(cluster.CPU, 2000)), pod("x")), where, "x:-"},
		{"types that are sold out do not count", given(pool("default", of(machine("a1", 2, 8, 1), machine("b1", 2, 8, 1, soldOut("a"), soldOut("b"), soldOut("c"))), requiresMin(2, family, cluster.Exists)), pod("x")), where, "x:-"},
	})
}
