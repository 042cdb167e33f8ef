package provisioning_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

func TestStandingNodes(t *testing.T) {
	noPods := func(n *cluster.Node) { n.Allocatable = n.Allocatable.Without(cluster.Pods) }
	check(t, []rule{
		{"take what they can", given(node("n1"), pod("x")), "x:n1"},
		{"unmanaged ones, too", given(noPool{}, node("n1", unmanaged), pod("x")), "x:n1"},
		{"of a NodePool that is gone", given(noPool{}, node("n1"), pod("x")), "x:n1"},
		{"cordoned ones do not", given(node("n1", cordoned), pod("x")), "x:new"},
		{"cordoned ones do not, whatever is tolerated", given(unchecked{}, node("n1", cordoned), pod("x", tolerates(""))), "x:new"},
		{"those that are not ready do not", given(node("n1", unready), pod("x")), "x:new"},
		{"unmanaged ones that are not ready do not", given(noPool{}, node("n1", unmanaged, unready), pod("x")), "x:-"},
		{"those that go away do not", given(node("n1", leaving), pod("x")), "x:new"},
		{"a taint", given(node("n1", taint("own")), pod("x")), "x:new"},
		{"what runs there takes room", given(node("n1"), running("old", "n1", cpu(1600)), pod("x")), "x:new"},
		{"what is being deleted there takes room until it is gone", given(node("n1"), running("old", "n1", cpu(1600), func(p *cluster.Pod) { p.Deleting = true }), pod("x")), "x:new"},
		{"what has finished there takes none", given(node("n1"), running("old", "n1", cpu(1600), func(p *cluster.Pod) { p.Phase = corev1.PodSucceeded }), pod("x")), "x:n1"},
		{"a node without a hostname label has its name", given(node("n1", func(n *cluster.Node) { delete(n.Labels, cluster.LabelHostname) }), pod("x", selects(cluster.LabelHostname, "n1"))), "x:n1"},
		{"a node that does not report how many pods it takes takes none", given(node("n1", noPods), pod("x")), "x:new"},
		{"a cordoned node's pods keep their zone", given(pool("default", func(p *cluster.NodePool) {
			p.Requirements = []cluster.Requirement{{Key: zone, Operator: cluster.In, Values: []string{"a"}}}
		}), node("n1", cordoned), running("old", "n1", apart("x")), pod("x")), "x:-"},
	})
}

// TestDaemonsOnStandingNodes: room is kept for those that are still to come.
func TestDaemonsOnStandingNodes(t *testing.T) {
	big := pod("x", cpu(1600))
	port := func(p *cluster.Pod) { p.HostPorts = []cluster.HostPort{{Protocol: corev1.ProtocolTCP, Port: 80}} }
	check(t, []rule{
		{"one that is to come takes room", given(node("n1"), daemonSet("d"), big), "x:new"},
		{"one that runs is counted once", given(node("n1"), daemonSet("d"), runningDaemon("d", "n1"), pod("x", cpu(1500))), "x:n1"},
		{"one that will not run there", given(node("n1"), daemonSet("d", selects(cluster.LabelArch, "arm64")), big), "x:n1"},
		{"one that does not tolerate the node", given(node("n1", taint("own")), daemonSet("d"), pod("x", cpu(1600), tolerates("own"))), "x:n1"},
		{"one for a label of the node", given(node("n1", func(n *cluster.Node) { n.Labels["team"] = "x" }), daemonSet("d", selects("team", "x")), big), "x:new"},
		{"one of the same name in another namespace runs", given(node("n1"), daemonSet("d"), running("d-n1", "n1", ownedBy("DaemonSet", "d")), pod("x", cpu(1500))), "x:new"},
		{"on a claim in flight", given(claim("c1"), daemonSet("d"), big), "x:new"},
		{"one that is to come has its host port", given(noPool{}, node("n1"), daemonSet("d", port), pod("x", port)), "x:-"},
		{"one that is to come has its host port on a claim in flight", given(noPool{}, claim("c1"), daemonSet("d", port), pod("x", port)), "x:-"},
		{"one that will not run there leaves its host port", given(noPool{}, node("n1"), daemonSet("d", port, selects(cluster.LabelArch, "arm64")), pod("x", port)), "x:n1"},
		{"on a new node", given(daemonSet("d"), big), "x:new"},
	})
}

// TestNodesThatStart: until a node is initialized, what goes away by itself does
// not count, and what it does not report yet is what its claim promises.
func TestNodesThatStart(t *testing.T) {
	started := pool("default", startup("cni"))
	bare := func(n *cluster.Node) { n.Allocatable = nil }
	noGPU := func(n *cluster.Node) { n.Allocatable = n.Allocatable.With(gpu, 0) }
	promised := claim("c1", of("n1"), func(c *cluster.NodeClaim) { c.Allocatable = c.Allocatable.With(gpu, 1) })
	onGPU := pod("x", asks(gpu, 1))
	rules := []rule{
		{"a startup taint does not count", given(started, node("n1", starting, taint("cni")), pod("x")), "x:n1"},
		{"it does once the node has started", given(started, node("n1", taint("cni")), pod("x")), "x:new"},
		{"a startup taint of another effect is another taint", given(started, node("n1", starting, func(n *cluster.Node) {
			n.Taints = []corev1.Taint{{Key: "cni", Effect: corev1.TaintEffectNoExecute}}
		}), pod("x")), "x:new"},
		{"a startup taint of the claim, be the NodePool another by now", given(node("n1", starting, taint("cni")), claim("c1", of("n1"), func(c *cluster.NodeClaim) {
			c.StartupTaints = []corev1.Taint{{Key: "cni", Effect: corev1.TaintEffectNoSchedule}}
		}), pod("x")), "x:n1"},
		{"another taint counts", given(node("n1", starting, taint("own")), pod("x")), "x:new"},
		{"not being ready does not count", given(node("n1", starting, unready), pod("x")), "x:n1"},
		{"being cordoned does", given(node("n1", starting, cordoned), pod("x")), "x:new"},
		{"a node that reports nothing has what its claim promises", given(node("n1", starting, bare), claim("c1", of("n1")), pod("x")), "x:n1"},
		{"a node that reports nothing and has no claim", given(node("n1", starting, bare), pod("x")), "x:new"},
		{"a resource that it does not report yet", given(node("n1", starting), promised, onGPU), "x:n1"},
		{"a resource that it reports as none yet", given(node("n1", starting, noGPU), promised, onGPU), "x:n1"},
		{"a resource that it should report by now", given(node("n1"), promised, onGPU), "x:-"},
		{"what it reports is believed", given(node("n1", starting, func(n *cluster.Node) { n.Allocatable = n.Allocatable.With(cluster.CPU, 400) }), claim("c1", of("n1")), pod("x")), "x:new"},
		{"an unmanaged node has always started", given(node("n1", unmanaged, taint("node.kubernetes.io/not-ready")), pod("x")), "x:new"},
	}
	for _, key := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "node.cloudprovider.kubernetes.io/uninitialized", cluster.TaintUnregistered, "readiness.k8s.io/network"} {
		rules = append(rules,
			rule{key + " does not count", given(node("n1", starting, taint(key)), pod("x")), "x:n1"},
			rule{key + " counts once the node has started", given(node("n1", taint(key)), pod("x")), "x:new"})
	}
	check(t, rules)
}

func TestClaimsInFlight(t *testing.T) {
	labelled := func(values ...string) func(*cluster.NodeClaim) {
		return func(c *cluster.NodeClaim) {
			c.Requirements = []cluster.Requirement{{Key: "team", Operator: cluster.In, Values: values}}
		}
	}
	tainted := func(c *cluster.NodeClaim) {
		c.Taints = []corev1.Taint{{Key: "own", Effect: corev1.TaintEffectNoSchedule}}
	}
	starts := func(c *cluster.NodeClaim) {
		c.StartupTaints = []corev1.Taint{{Key: "cni", Effect: corev1.TaintEffectNoSchedule}}
	}
	attaches := func(p *cluster.Pod) { p.Volumes = []cluster.Volume{{Driver: "ebs.csi.aws.com"}} }
	check(t, []rule{
		{"take pods", given(claim("c1"), pod("x")), "x:c1"},
		{"as many as they promise room for", given(noPool{}, claim("c1"), pod("x1"), pod("x2"), pod("x3"), pod("x4"), pod("x5")), "x1:c1 x2:c1 x3:c1 x4:c1 x5:-"},
		{"nodes that stand come first", given(node("n1"), claim("c1"), pod("x")), "x:n1"},
		{"not those that are being deleted", given(claim("c1", func(c *cluster.NodeClaim) { c.Deleting = true }), pod("x")), "x:new"},
		{"not beside their node, once that stands", given(node("n1", taint("own")), claim("c1", of("n1")), pod("x")), "x:new"},
		{"by the instance, where the node's name is not known yet", given(node("n1", taint("own")), claim("c1", of("n1"), func(c *cluster.NodeClaim) { c.NodeName = "" }), pod("x")), "x:new"},
		{"their taints count", given(claim("c1", tainted), pod("x")), "x:new"},
		{"their taints can be tolerated", given(claim("c1", tainted), pod("x", tolerates("own"))), "x:c1"},
		{"their startup taints do not count", given(claim("c1", starts), pod("x")), "x:c1"},
		{"their labels", given(claim("c1"), pod("x", selects(zone, "b"))), "x:new"},
		{"a requirement of one value is a label", given(claim("c1", labelled("x")), pod("x", selects("team", "x"))), "x:c1"},
		{"a requirement of two values is none yet", given(claim("c1", labelled("x", "y")), pod("x", selects("team", "x"))), "x:-"},
		{"of which nothing is known yet take nothing", given(claim("c1", func(c *cluster.NodeClaim) { c.Allocatable = nil }), pod("x")), "x:new"},
		{"attach as many volumes as their type can", given(classTypes{"class", []cluster.InstanceType{machine("small", 2, 8, 1, func(t *cluster.InstanceType) { t.VolumeLimit = 1 })}},
			pool("default", limited(cluster.Nodes, 1)), claim("c1"), pod("x", attaches), pod("y", attaches)), "x:c1 y:-"},
		{"one that has not launched does not hold up the rest", given(claim("c1", func(c *cluster.NodeClaim) { c.Launched, c.Allocatable = false, nil }), pod("x"), pod("y", cpu(6000))), "x:new y:new"},
	})
}
