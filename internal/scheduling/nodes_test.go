package scheduling_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/scheduling"
)

const (
	noSchedule = corev1.TaintEffectNoSchedule
	noExecute  = corev1.TaintEffectNoExecute
	rather     = corev1.TaintEffectPreferNoSchedule
	tcp        = corev1.ProtocolTCP
	udp        = corev1.ProtocolUDP
)

func TestRequests(t *testing.T) {
	thin := machine("thin", 4, 4, 1.5)
	check(t, []rule{
		{"cpu decides the type", given(pod("x", cpu(3000))), typed, "x:medium"},
		{"cpu to the brim", given(pod("x", cpu(2000))), typed, "x:small"},
		{"memory decides the type", given(pod("x", memory(9))), typed, "x:medium"},
		{"memory to the brim", given(pod("x", memory(8))), typed, "x:small"},
		{"more than the largest has", given(pod("x", cpu(8001))), where, "x:-"},
		{"the type whose proportions suit", given(pool("default", of(append(sizes(), thin)...)), pod("x", cpu(4000))), typed, "x:thin"},
		{"a node holds ten pods and no more", given(pool("default", of(machine("large", 8, 32, 4))), pods(11, "x", cpu(10), memory(0))), loads, "10 1"},
		{"an extended resource", given(pool("default", of(append(sizes(), machine("dev", 2, 8, 3, has("example.com/dev", 2)))...)), pod("x", asks("example.com/dev", 1))), typed, "x:dev"},
		{"an extended resource is shared until it is used up", given(pool("default", of(machine("dev", 8, 32, 3, has("example.com/dev", 2)))), pods(3, "x", asks("example.com/dev", 1))), loads, "2 1"},
		{"an extended resource that nothing has", given(pod("x", asks("example.com/dev", 1))), where, "x:-"},
		{"none of an extended resource is no demand", given(pod("x", asks("example.com/dev", 0))), typed, "x:small"},
		{"ephemeral storage", given(pool("default", of(machine("small", 2, 8, 1), machine("disk", 2, 8, 2, has(cluster.EphemeralStorage, 100*gib)))), pod("x", asks(cluster.EphemeralStorage, 50*gib))), typed, "x:disk"},
		{"hugepages", given(pool("default", of(machine("small", 2, 8, 1), machine("huge", 2, 8, 2, has("hugepages-2Mi", gib)))), pod("x", asks("hugepages-2Mi", gib))), typed, "x:huge"},
		{"a type that is sold out in its cheapest zone", given(pool("default", of(machine("small", 2, 8, 1, soldOut("a")))), pod("x")), at(zone), "x:b|c"},
		{"a type that is sold out everywhere", given(pool("default", of(machine("small", 2, 8, 1, soldOut("a"), soldOut("b"), soldOut("c")), machine("medium", 4, 16, 2))), pod("x")), listed, "[medium]"},
		{"several small pods share what one large type costs less for", given(pool("default", of(machine("small", 2, 8, 1), machine("large", 8, 32, 3))), pods(4, "x", cpu(2000))), opened, "1 large"},
		{"no NodePool", given(noPool{}, pod("x")), where, "x:-"},
		{"a NodePool without types", given(pool("default", of()), pod("x")), where, "x:-"},
	})
}

func TestTaints(t *testing.T) {
	own := func(effect corev1.TaintEffect) scheduling.Pool { return pool("default", tainted("own", effect)) }
	tolerating := func(t corev1.Toleration) *scheduling.Problem { return given(own(noSchedule), pod("x", toleration(t))) }
	check(t, []rule{
		{"NoSchedule keeps a pod off", given(own(noSchedule), pod("x")), where, "x:-"},
		{"NoExecute keeps a pod off", given(own(noExecute), pod("x")), where, "x:-"},
		{"PreferNoSchedule does not", given(own(rather), pod("x")), where, "x:new"},
		{"tolerated by Exists", tolerating(corev1.Toleration{Key: "own", Operator: corev1.TolerationOpExists}), where, "x:new"},
		{"tolerated by Equal", tolerating(corev1.Toleration{Key: "own", Operator: corev1.TolerationOpEqual, Value: "yes"}), where, "x:new"},
		{"Equal is the default", tolerating(corev1.Toleration{Key: "own", Value: "yes"}), where, "x:new"},
		{"another value", tolerating(corev1.Toleration{Key: "own", Value: "no"}), where, "x:-"},
		{"another key", tolerating(corev1.Toleration{Key: "other", Operator: corev1.TolerationOpExists}), where, "x:-"},
		{"the effect", tolerating(corev1.Toleration{Key: "own", Operator: corev1.TolerationOpExists, Effect: noSchedule}), where, "x:new"},
		{"another effect", tolerating(corev1.Toleration{Key: "own", Operator: corev1.TolerationOpExists, Effect: noExecute}), where, "x:-"},
		{"no key with Exists tolerates all", tolerating(corev1.Toleration{Operator: corev1.TolerationOpExists}), where, "x:new"},
		{"seconds do not matter", tolerating(corev1.Toleration{Key: "own", Operator: corev1.TolerationOpExists, TolerationSeconds: new(int64)}), where, "x:new"},
		{"every taint must be tolerated", given(pool("default", tainted("one", noSchedule), tainted("two", noSchedule)), pod("x", tolerates("one"))), where, "x:-"},
		{"startup taints keep nobody off", given(pool("default", startupTainted("cni")), pod("x")), where, "x:new"},
		{"the pool without the taint", given(pool("clean"), pool("dirty", tainted("own", noSchedule), weight(9)), pod("x")), pooled, "x:clean"},
		{"the pool with a PreferNoSchedule taint is the second choice", given(pool("a-rather-not", tainted("own", rather)), pool("clean"), pod("x")), pooled, "x:clean"},
		{"a PreferNoSchedule taint that is tolerated does not count", given(pool("a-rather-not", tainted("own", rather)), pool("clean"), pod("x", tolerates("own"))), pooled, "x:a-rather-not"},
		{"a PreferNoSchedule taint does not make up for any price", given(pool("cheap", tainted("own", rather)), pool("dear", of(machine("dear", 2, 8, 50))), pod("x")), pooled, "x:cheap"},
	})
}

// TestDaemons: what the DaemonSets take is worked out for each NodePool and type.
func TestDaemons(t *testing.T) {
	both := of(machine("amd", 2, 8, 1), machine("arm", 2, 8, 1.2, arm))
	check(t, []rule{
		{"its requests come off the room", given(pool("default", daemon("d")), pod("x", cpu(1600))), typed, "x:medium"},
		{"what is left is used", given(pool("default", daemon("d")), pod("x", cpu(1500))), typed, "x:small"},
		{"several add up", given(pool("default", daemon("d"), daemon("e")), pod("x", cpu(1500))), typed, "x:medium"},
		{"it counts as a pod", given(pool("default", of(machine("large", 8, 32, 4)), daemon("d")), pods(10, "x", cpu(10), memory(0))), loads, "9 1"},
		{"of one architecture only", given(pool("default", both, daemon("d", selects(arch, "amd64"))), pod("x", cpu(2000))), typed, "x:arm"},
		{"by required affinity", given(pool("default", both, daemon("d", wants(exprs{expr(arch, "NotIn", "arm64")}))), pod("x", cpu(2000))), typed, "x:arm"},
		{"preferred affinity does not keep it off", given(pool("default", both, daemon("d", prefers(100, expr(arch, "In", "amd64")))), pod("x", cpu(2000))), where, "x:-"},
		{"that does not tolerate the pool's taint", given(pool("default", tainted("own", noSchedule), daemon("d")), pod("x", cpu(2000), tolerates("own"))), typed, "x:small"},
		{"that tolerates the pool's taint", given(pool("default", tainted("own", noSchedule), daemon("d", tolerates("own"))), pod("x", cpu(2000), tolerates("own"))), typed, "x:medium"},
		{"a startup taint does not keep it off", given(pool("default", startupTainted("cni"), daemon("d")), pod("x", cpu(2000))), typed, "x:medium"},
		{"a PreferNoSchedule taint does not keep it off", given(pool("default", tainted("own", rather), daemon("d")), pod("x", cpu(2000))), typed, "x:medium"},
		{"for the nodes of another NodePool", given(pool("default", daemon("d", selects(cluster.LabelNodePool, "other"))), pod("x", cpu(2000))), typed, "x:small"},
		{"for a label that the NodePool gives", given(pool("default", gives("team", "x"), daemon("d", selects("team", "x"))), pod("x", cpu(2000))), typed, "x:medium"},
		{"for a label that the NodePool does not give", given(pool("default", daemon("d", selects("team", "x"))), pod("x", cpu(2000))), typed, "x:small"},
		{"its extended resource", given(pool("default", of(machine("dev", 8, 32, 3, has("example.com/dev", 2))), daemon("d", asks("example.com/dev", 1))), pods(2, "x", asks("example.com/dev", 1))), loads, "1 1"},
		{"is counted by type, be it for one zone", given(pool("default", daemon("d", selects(zone, "a"))), pod("x", cpu(2000), selects(zone, "b"))), typed, "x:medium"},
		{"too large for a type keeps pods off that type", given(pool("default", daemon("d", cpu(3000))), pod("x")), typed, "x:medium"},
	})
}

func TestHostPorts(t *testing.T) {
	check(t, []rule{
		{"a port is taken once a node", given(pods(2, "x", port(80, tcp, ""))), loads, "1 1"},
		{"another port", given(pod("x1", port(80, tcp, "")), pod("x2", port(81, tcp, ""))), loads, "2"},
		{"another protocol", given(pod("x1", port(53, tcp, "")), pod("x2", port(53, udp, ""))), loads, "2"},
		{"no protocol is TCP", given(pod("x1", port(53, tcp, "")), pod("x2", port(53, "", ""))), loads, "1 1"},
		{"another address", given(pod("x1", port(80, tcp, "10.0.0.1")), pod("x2", port(80, tcp, "10.0.0.2"))), loads, "2"},
		{"the same address", given(pods(2, "x", port(80, tcp, "10.0.0.1"))), loads, "1 1"},
		{"an address and every address", given(pod("x1", port(80, tcp, "10.0.0.1")), pod("x2", port(80, tcp, ""))), loads, "1 1"},
		{"an address and 0.0.0.0", given(pod("x1", port(80, tcp, "0.0.0.0")), pod("x2", port(80, tcp, "10.0.0.1"))), loads, "1 1"},
		{"an address and ::", given(pod("x1", port(80, tcp, "::")), pod("x2", port(80, tcp, "10.0.0.1"))), loads, "1 1"},
		{"one of several clashes", given(pod("x1", port(80, tcp, ""), port(443, tcp, "")), pod("x2", port(8080, tcp, ""), port(443, tcp, ""))), loads, "1 1"},
		{"a port twice in one pod", given(pod("x1", port(80, tcp, ""), port(80, tcp, ""))), loads, "1"},
		{"a pod without ports shares", given(pod("x1", port(80, tcp, "")), pod("x2")), loads, "2"},
		{"a port that a standing pod has", given(noPool{}, node("n1", "a", runs(pod("old", port(80, tcp, "")))), node("n2", "a"), pod("x", port(80, tcp, ""))), where, "x:n2"},
		{"a port that a pod in another namespace has", given(noPool{}, node("n1", "a", runs(pod("old", in("other"), port(80, tcp, "")))), pod("x", port(80, tcp, ""))), where, "x:-"},
		{"standing nodes take one each", given(noPool{}, node("n1", "a"), node("n2", "a"), pods(3, "x", port(80, tcp, ""))), loads, "1 1 left 1"},
		{"a port of a daemon that is to come", given(pool("default", daemon("d", port(80, tcp, ""))), pod("x", port(80, tcp, ""))), where, "x:-"},
		{"a port of a daemon that will not run there", given(pool("default", daemon("d", port(80, tcp, ""), selects(arch, "arm64"))), pod("x", port(80, tcp, ""))), where, "x:new"},
		{"a port of a daemon on the types that suit it", given(pool("default", of(machine("amd", 2, 8, 1), machine("arm", 2, 8, 2, arm)), daemon("d", port(80, tcp, ""), selects(arch, "amd64"))), pod("x", port(80, tcp, ""))), typed, "x:arm"},
	})
}

// TestExoticTypes: GPUs, accelerators and bare metal are for those who ask.
func TestExoticTypes(t *testing.T) {
	cheap := machine("gpu", 2, 8, 0.1, exotic, has(gpu, 1))
	metal := machine("metal", 96, 384, 40, exotic)
	with := func(types ...cluster.InstanceType) scheduling.Pool {
		return pool("default", of(append(sizes(), types...)...))
	}
	check(t, []rule{
		{"not for a pod that does not ask, however cheap", given(with(cheap), pod("x")), listed, "[large medium small]"},
		{"for a pod that asks for the resource", given(with(cheap), pod("x", asks(gpu, 1))), typed, "x:gpu"},
		{"for a pod that names the type", given(with(cheap), pod("x", selects(kind, "gpu"))), typed, "x:gpu"},
		{"for a pod that nothing else can hold", given(with(metal), pod("x", cpu(50000))), typed, "x:metal"},
		{"not for many pods that other types hold", given(with(metal), pods(30, "x", cpu(3000))), opened, "15 large"},
		{"for a NodePool that has nothing else", given(pool("default", of(cheap)), pod("x")), typed, "x:gpu"},
		{"a plain pod does not open one beside a pod that does", given(with(machine("gpu", 2, 8, 9, exotic, has(gpu, 1))), pod("x1", asks(gpu, 1), cpu(2000)), pod("x2", cpu(2000))), typed, "x1:gpu x2:small"},
		{"a plain pod may fill one that is there anyway", given(with(cheap), pod("x1", asks(gpu, 1)), pod("x2")), opened, "1 gpu"},
	})
}

// TestDevices: what a resource claim asks for is planned as the extended resource
// of the same devices.
func TestDevices(t *testing.T) {
	types := of(append(sizes(), machine("gpu", 8, 32, 9, exotic, has(gpu, 2)), machine("neuron", 8, 32, 8, exotic, has("aws.amazon.com/neuron", 1)),
		machine("amd", 8, 32, 7, exotic, has("amd.com/gpu", 1)), machine("efa", 8, 32, 6, has("vpc.amazonaws.com/efa", 1)))...)
	check(t, []rule{
		{"of a known class", given(pool("default", types), pod("x", devices("gpu.nvidia.com", 1))), typed, "x:gpu"},
		{"of the class of Neuron", given(pool("default", types), pod("x", devices("neuron.aws.com", 1))), typed, "x:neuron"},
		{"of the class of AMD", given(pool("default", types), pod("x", devices("gpu.amd.com", 1))), typed, "x:amd"},
		{"of the class of EFA", given(pool("default", types), pod("x", devices("efa.networking.k8s.aws", 1))), typed, "x:efa"},
		{"are counted", given(pool("default", types), pods(3, "x", devices("gpu.nvidia.com", 1))), loads, "2 1"},
		{"add up with the resource", given(pool("default", types), pod("x", devices("gpu.nvidia.com", 1), asks(gpu, 2))), where, "x:-"},
		{"two claims of one class add up", given(pool("default", types), pod("x", devices("gpu.nvidia.com", 1), devices("gpu.nvidia.com", 2))), where, "x:-"},
		{"more than any type has", given(pool("default", types), pod("x", devices("gpu.nvidia.com", 3))), where, "x:-"},
		{"of an unknown class are refused by name", given(pool("default", types), pod("x", devices("fpga.example.com", 1))),
			func(o outcome) string {
				return map[bool]string{true: "named"}[strings.Contains(why(o), "fpga.example.com")]
			}, "named"},
	})
}
