package plan

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// ask changes what a pod asks for.
func ask(name, resource string, amount int64) func(*fixture) {
	return func(f *fixture) { f.pod(name).Requests = f.pod(name).Requests.With(resource, amount) }
}

func TestCheckResources(t *testing.T) {
	runSpoiled(t, []spoiled{
		{"just enough", ask("one", cluster.CPU, 2900), "", "", ""},
		{"more than the smallest type", ask("one", cluster.CPU, 2901), RuleResources, "new", ""},
		{"more than any type", ask("one", cluster.Memory, 100*gib), RuleResources, "new", ""},
		{"what no type has", ask("one", "nvidia.com/gpu", 1), RuleResources, "new", ""},
		{"nothing of what no type has", ask("one", "nvidia.com/gpu", 0), "", "", ""},
		{"an absurd amount, twice", func(f *fixture) {
			for _, name := range []string{"one", "two"} {
				ask(name, "example.com/thing", math.MaxInt64-1)(f)
			}
			f.spoil = func(p *Proposal) { // their sum in the report turns over
				n := &p.Report.NewNodes[0]
				n.Requests = n.Requests.With("example.com/thing", math.MaxInt64)
				p.Writes[0].Claim.Requests = n.Requests
			}
		}, RuleResources, "new", ""},
		{"daemons take the room", func(f *fixture) {
			f.daemon("agent", nil)
			f.nodes[0].Daemons = cluster.Resources{{Name: cluster.CPU, Amount: 100}}
			ask("one", cluster.CPU, 2801)(f)
		}, RuleResources, "new", ""},
		{"daemons of one zone take the room there", func(f *fixture) {
			f.daemon("agent", func(p *cluster.Pod) { p.NodeSelector = map[string]string{cluster.LabelZone: zoneC} })
			ask("one", cluster.CPU, 2801)(f)
		}, RuleResources, "new", ""},
		{"daemons that do not tolerate the pool's taints", func(f *fixture) {
			f.taint()
			f.daemon("agent", nil)
			f.pod("one").Requests = f.pod("one").Requests.With(cluster.CPU, 2900)
		}, "", "", ""},
		{"too many pods", func(f *fixture) {
			f.types[0].Allocatable = f.types[0].Allocatable.With(cluster.Pods, 2)
			f.nodes[0].Allocatable = f.types[0].Allocatable
		}, RuleResources, "new", ""},
		{"standing node is full", ask("old", cluster.CPU, 3401), RuleResources, "standing", ""},
		{"standing node is just full", ask("old", cluster.CPU, 3400), "", "", ""},
		{"running pod is finished", func(f *fixture) {
			ask("old", cluster.CPU, 3900)(f)
			f.pod("old").Phase = corev1.PodSucceeded
		}, "", "", ""},
		{"daemon is to come", func(f *fixture) {
			f.daemon("agent", func(p *cluster.Pod) { p.NodeSelector = map[string]string{cluster.LabelHostname: "standing"} })
			ask("old", cluster.CPU, 3301)(f)
		}, RuleResources, "standing", ""},
		{"daemon is there", func(f *fixture) {
			f.daemon("agent", func(p *cluster.Pod) { p.NodeSelector = map[string]string{cluster.LabelHostname: "standing"} })
			p := running("agent-x", "standing")
			p.Owner = cluster.Owner{Kind: "DaemonSet", Name: "agent"}
			f.snap.Pods = append(f.snap.Pods, p)
			ask("agent-x", cluster.CPU, 100)(f)
			ask("old", cluster.CPU, 3300)(f)
		}, "", "", ""},
		{"standing node reports no limit of pods", func(f *fixture) { f.snap.Nodes[0].Allocatable = f.snap.Nodes[0].Allocatable.Without(cluster.Pods) }, "", "", ""},
		{"claim in flight is full", ask("onto-flying", cluster.CPU, 3901), RuleResources, "flying", ""},
		{"claim promises what the node does not report", func(f *fixture) {
			f.snap.Nodes = append(f.snap.Nodes, cluster.Node{Name: "joining", ProviderID: "i-1", Labels: map[string]string{cluster.LabelNodePool: "pool"}})
			f.snap.Claims[0].ProviderID = "i-1"
			f.existing[1] = ExistingNode{Name: "joining", Pods: placed("onto-flying")}
		}, "", "", ""},
		{"device of a class that is not known", func(f *fixture) { f.pod("one").Devices = []cluster.DeviceRequest{{Class: "example.com/odd", Count: 1}} }, RuleResources, "new", "ns/one"},
		{"devices count as what types have", func(f *fixture) {
			f.pod("one").Devices = []cluster.DeviceRequest{{Class: "gpu.nvidia.com", Count: 2}}
			for i := range f.types {
				f.types[i].Allocatable = f.types[i].Allocatable.With("nvidia.com/gpu", 1)
			}
			f.nodes[0].Allocatable = f.types[0].Allocatable
			f.spoil = func(p *Proposal) {
				n := &p.Report.NewNodes[0]
				n.Requests = n.Requests.With("nvidia.com/gpu", 2)
				p.Writes[0].Claim.Requests = n.Requests
			}
		}, RuleResources, "new", ""},
	})
}

// taint gives the pool a taint that the pods of the new node tolerate, and those
// of the claim in flight need not.
func (f *fixture) taint() {
	f.snap.NodePools[0].Taints = []corev1.Taint{{Key: "dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
	for _, name := range []string{"one", "two", "three"} {
		f.pod(name).Tolerations = []corev1.Toleration{{Key: "dedicated", Value: "x"}}
	}
}

func TestCheckTaints(t *testing.T) {
	tolerate := func(ts ...corev1.Toleration) func(*fixture) {
		return func(f *fixture) {
			f.taint()
			f.pod("one").Tolerations = ts
		}
	}
	node := func(change func(*cluster.Node)) func(*fixture) { return func(f *fixture) { change(&f.snap.Nodes[0]) } }
	starting := func(n *cluster.Node) {
		n.Labels[cluster.LabelNodePool] = "pool"
		n.Ready = false
		n.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}, {Key: "example.com/starting", Effect: corev1.TaintEffectNoSchedule}}
	}
	runSpoiled(t, []spoiled{
		{"tolerated", tolerate(corev1.Toleration{Key: "dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule}), "", "", ""},
		{"tolerated by key", tolerate(corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpExists}), "", "", ""},
		{"tolerates everything", tolerate(corev1.Toleration{Operator: corev1.TolerationOpExists}), "", "", ""},
		{"not tolerated", tolerate(), RuleTaints, "new", "ns/one"},
		{"another value", tolerate(corev1.Toleration{Key: "dedicated", Value: "y"}), RuleTaints, "new", "ns/one"},
		{"another effect", tolerate(corev1.Toleration{Key: "dedicated", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}), RuleTaints, "new", "ns/one"},
		{"no key and no operator", tolerate(corev1.Toleration{Value: "x"}), RuleTaints, "new", "ns/one"},
		{"a wish only", func(f *fixture) {
			f.snap.NodePools[0].Taints = []corev1.Taint{{Key: "soft", Effect: corev1.TaintEffectPreferNoSchedule}}
		}, "", "", ""},
		{"startup taints of the pool", func(f *fixture) {
			f.snap.NodePools[0].StartupTaints = []corev1.Taint{{Key: "starting", Effect: corev1.TaintEffectNoSchedule}}
		}, "", "", ""},
		{"cordoned", node(func(n *cluster.Node) { n.Cordoned = true }), RuleTaints, "standing", "ns/onto-standing"},
		{"not ready", node(func(n *cluster.Node) { n.Ready = false }), RuleTaints, "standing", "ns/onto-standing"},
		{"starting, and not with the pool's taints", node(starting), RuleTaints, "standing", "ns/onto-standing"},
		{"starting", func(f *fixture) {
			starting(&f.snap.Nodes[0])
			f.snap.NodePools[0].StartupTaints = []corev1.Taint{{Key: "example.com/starting", Effect: corev1.TaintEffectNoSchedule}}
		}, "", "", ""},
		{"started", func(f *fixture) {
			starting(&f.snap.Nodes[0])
			f.snap.NodePools[0].StartupTaints = []corev1.Taint{{Key: "example.com/starting", Effect: corev1.TaintEffectNoSchedule}}
			f.snap.Nodes[0].Labels[cluster.LabelInitialized] = "true"
		}, RuleTaints, "standing", "ns/onto-standing"},
		{"claim in flight", func(f *fixture) {
			f.snap.Claims[0].Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoExecute}}
		}, RuleTaints, "flying", "ns/onto-flying"},
	})
}

func TestCheckNodeAffinity(t *testing.T) {
	selects := func(pod, key, value string) func(*fixture) {
		return func(f *fixture) { f.pod(pod).NodeSelector = map[string]string{key: value} }
	}
	wants := func(key string, op corev1.NodeSelectorOperator, values ...string) func(*fixture) {
		return func(f *fixture) {
			f.pod("one").Affinity = nodeAffinity(corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values})
		}
	}
	runSpoiled(t, []spoiled{
		{"what every choice has", selects("one", cluster.LabelOS, "linux"), "", "", ""},
		{"the old name of a label", selects("one", "beta.kubernetes.io/arch", "amd64"), "", "", ""},
		{"a label of the pool", selects("one", teamKey, "red"), "", "", ""},
		{"another value", selects("one", teamKey, "blue"), RuleNodeAffinity, "new", "ns/one"},
		{"one zone of three", selects("one", cluster.LabelZone, zoneA), RuleNodeAffinity, "new", "ns/one"},
		{"the only zone", func(f *fixture) {
			selects("one", cluster.LabelZone, zoneA)(f)
			f.nodes[0].Zones = []string{zoneA}
		}, "", "", ""},
		{"one type of two", wants(cluster.LabelInstanceType, corev1.NodeSelectorOpIn, "m.large"), RuleNodeAffinity, "new", "ns/one"},
		{"the other capacity type", wants(cluster.LabelCapacityType, corev1.NodeSelectorOpNotIn, cluster.OnDemand), RuleNodeAffinity, "new", "ns/one"},
		{"not a zone that it may be in", wants(cluster.LabelZone, corev1.NodeSelectorOpNotIn, zoneC), RuleNodeAffinity, "new", "ns/one"},
		{"a label that is absent", wants("example.com/none", corev1.NodeSelectorOpDoesNotExist), "", "", ""},
		{"a label that is to be there", wants("example.com/none", corev1.NodeSelectorOpExists), RuleNodeAffinity, "new", "ns/one"},
		{"a number", wants(teamKey, corev1.NodeSelectorOpGt, "1"), RuleNodeAffinity, "new", "ns/one"},
		{"a name of a new node", wants(cluster.LabelHostname, corev1.NodeSelectorOpIn, "new"), RuleNodeAffinity, "new", "ns/one"},
		{"not the name of another", wants(cluster.LabelHostname, corev1.NodeSelectorOpNotIn, "standing"), "", "", ""},
		{"no term", func(f *fixture) {
			a := nodeAffinity()
			a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms = nil
			f.pod("one").Affinity = a
		}, RuleNodeAffinity, "new", "ns/one"},
		{"one of two terms", func(f *fixture) {
			a := nodeAffinity(corev1.NodeSelectorRequirement{Key: teamKey, Operator: corev1.NodeSelectorOpIn, Values: []string{"blue"}})
			s := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: teamKey, Operator: corev1.NodeSelectorOpExists}}})
			f.pod("one").Affinity = a
		}, "", "", ""},
		{"standing node", selects("onto-standing", cluster.LabelHostname, "other"), RuleNodeAffinity, "standing", "ns/onto-standing"},
		{"standing node by name", func(f *fixture) {
			a := nodeAffinity()
			a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields = []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"standing"}}}
			f.pod("onto-standing").Affinity = a
		}, "", "", ""},
		{"claim in flight by its type", selects("onto-flying", cluster.LabelOS, "linux"), "", "", ""},
		{"claim in flight", selects("onto-flying", cluster.LabelZone, zoneA), RuleNodeAffinity, "flying", "ns/onto-flying"},
	})
}

func TestCheckHostPorts(t *testing.T) {
	ports := func(f *fixture, pod string, hs ...cluster.HostPort) { f.pod(pod).HostPorts = hs }
	tcp := func(ip string, port int32) cluster.HostPort {
		return cluster.HostPort{IP: ip, Protocol: corev1.ProtocolTCP, Port: port}
	}
	runSpoiled(t, []spoiled{
		{"the same twice", func(f *fixture) {
			ports(f, "one", tcp("", 80))
			ports(f, "two", cluster.HostPort{Port: 80})
		}, RuleHostPorts, "new", "ns/two"},
		{"any address and one", func(f *fixture) {
			ports(f, "one", tcp("10.0.0.1", 80))
			ports(f, "two", tcp("0.0.0.0", 80))
		}, RuleHostPorts, "new", "ns/two"},
		{"two addresses", func(f *fixture) {
			ports(f, "one", tcp("10.0.0.1", 80))
			ports(f, "two", tcp("10.0.0.2", 80))
		}, "", "", ""},
		{"two protocols", func(f *fixture) {
			ports(f, "one", tcp("", 80))
			ports(f, "two", cluster.HostPort{Protocol: corev1.ProtocolUDP, Port: 80})
		}, "", "", ""},
		{"of a pod that runs", func(f *fixture) {
			ports(f, "old", tcp("", 80))
			ports(f, "onto-standing", tcp("", 80))
		}, RuleHostPorts, "standing", "ns/onto-standing"},
		{"of a daemon", func(f *fixture) {
			f.daemon("proxy", func(p *cluster.Pod) { p.HostPorts, p.Requests = []cluster.HostPort{tcp("", 80)}, nil })
			ports(f, "one", tcp("", 80))
		}, RuleHostPorts, "new", "ns/one"},
		{"of a daemon in one zone", func(f *fixture) {
			f.daemon("proxy", func(p *cluster.Pod) {
				p.HostPorts, p.Requests, p.NodeSelector = []cluster.HostPort{tcp("", 80)}, nil, map[string]string{cluster.LabelZone: zoneC}
			})
			ports(f, "one", tcp("", 80))
		}, RuleHostPorts, "new", "ns/one"},
	})
}
