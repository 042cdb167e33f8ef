package provisioning_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// TestWhichPodsWait: what is not in the report at all was not asked about.
func TestWhichPodsWait(t *testing.T) {
	set := func(f func(*cluster.Pod)) cluster.Pod { return pod("x", f) }
	check(t, []rule{
		{"the scheduler found no node", given(pod("x")), "x:new"},
		{"the scheduler has not looked yet", given(set(func(p *cluster.Pod) { p.Unschedulable = false })), ""},
		{"it runs", given(node("n1"), running("x", "n1")), ""},
		{"it is bound to a node that is not in the input", given(running("x", "gone")), ""},
		{"a node is nominated", given(node("n1"), set(func(p *cluster.Pod) { p.NominatedNodeName = "n1" })), ""},
		{"it is being deleted", given(set(func(p *cluster.Pod) { p.Deleting = true })), ""},
		{"it is gated", given(set(func(p *cluster.Pod) { p.Gated = true })), ""},
		{"it has succeeded", given(set(func(p *cluster.Pod) { p.Phase = corev1.PodSucceeded })), ""},
		{"it has failed", given(set(func(p *cluster.Pod) { p.Phase = corev1.PodFailed })), ""},
		{"a DaemonSet owns it", given(set(ownedBy("DaemonSet", "d"))), ""},
		{"a Node owns it", given(set(ownedBy("Node", "n1"))), ""},
		{"a StatefulSet owns it", given(set(ownedBy("StatefulSet", "s"))), "x:new"},
		{"nobody owns it", given(set(ownedBy("", ""))), "x:new"},
		{"it is headroom", given(set(func(p *cluster.Pod) { p.Virtual = true })), "x:new"},
		{"it refuses nodes of any NodePool", given(set(wants(cluster.LabelNodePool, corev1.NodeSelectorOpDoesNotExist))), ""},
		{"it refuses one NodePool", given(pool("one"), pool("two"), set(wants(cluster.LabelNodePool, corev1.NodeSelectorOpNotIn, "one"))), "x:new"},
		{"nothing waits", given(), ""},
	})
}

// TestRefused: pods that nobody can place, with a reason that names the cause.
// The others are planned all the same.
func TestRefused(t *testing.T) {
	class := "gone"
	for _, c := range []struct {
		name string
		pod  cluster.Pod
		more []any
		want string
	}{
		{"a label of the karpenter.sh domain", pod("x", selects("karpenter.sh/initialized", "true")), nil, "karpenter.sh/initialized"},
		{"the same in an affinity", pod("x", wants("karpenter.sh/registered", corev1.NodeSelectorOpExists)), nil, "karpenter.sh/registered"},
		{"a problem that the reader of manifests found", pod("x", func(p *cluster.Pod) { p.Problems = []string{"PriorityClass \"high\" is not there."} }), nil, "PriorityClass \"high\" is not there."},
		{"matchFields", pod("x", func(p *cluster.Pod) {
			wants("unused", corev1.NodeSelectorOpExists)(p)
			p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0] = corev1.NodeSelectorTerm{
				MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"n1"}}}}
		}), nil, "matchFields"},
		{"a claim that is not there", pod("x", func(p *cluster.Pod) { p.Volumes = []cluster.Volume{{Claim: "data"}} }), nil, `"data"`},
		{"a claim of a class that is not there", pod("x", func(p *cluster.Pod) { p.Volumes = []cluster.Volume{{Claim: "data"}} }),
			[]any{cluster.PVC{Namespace: "default", Name: "data", StorageClass: &class}}, `StorageClass "gone"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			prop := decide(t, given(append(c.more, unchecked{}, c.pod, pod("y"))...))
			if got := where(prop); got != "x:- y:new" {
				t.Fatalf("got %q, want x left out and y placed", got)
			}
			reasons := prop.Report.Unschedulable[0].Reasons
			if !slices.ContainsFunc(reasons, func(r string) bool { return strings.Contains(r, c.want) }) {
				t.Errorf("the reasons are %q, want one to contain %q", reasons, c.want)
			}
		})
	}
}

// TestLabelsThatPodsMayAskFor of the karpenter.sh domain.
func TestLabelsThatPodsMayAskFor(t *testing.T) {
	check(t, []rule{
		{"the NodePool", given(pod("x", selects(cluster.LabelNodePool, "default"))), "x:new"},
		{"the capacity type", given(pod("x", selects(cluster.LabelCapacityType, cluster.Spot))), "x:new"},
		{"a label of the AWS domain is no label of that domain", given(pod("x", selects("karpenter.k8s.aws/instance-family", "m5"))), "x:-"},
		{"the node class", given(pod("x", selects(cluster.LabelNodeClass, "class"))), "x:new"},
		{"the hostname of a node that stands", given(node("n1"), node("n2"), pod("x", selects(cluster.LabelHostname, "n2"))), "x:n2"},
	})
}

// TestPodsOfNodesThatGoAway need another place.
func TestPodsOfNodesThatGoAway(t *testing.T) {
	gone := func(changes ...func(*cluster.Pod)) []any {
		return []any{node("n1", leaving), running("x", "n1", changes...)}
	}
	check(t, []rule{
		{"the node is being deleted", given(gone()...), "x:new"},
		{"its claim is being deleted", given(node("n1"), claim("c1", of("n1"), func(c *cluster.NodeClaim) { c.Deleting = true }), running("x", "n1")), "x:new"},
		{"its claim is being deleted, and names no node yet", given(node("n1"), claim("c1", of("n1"), func(c *cluster.NodeClaim) { c.Deleting, c.NodeName = true, "" }), running("x", "n1")), "x:new"},
		{"the node is disrupted", given(unchecked{}, node("n1", taint(cluster.TaintDisrupted)), running("x", "n1")), "x:new"},
		{"the node is cordoned, no more", given(node("n1", cordoned), running("x", "n1")), ""},
		{"to a node that stays", given(append(gone(), node("n2"))...), "x:n2"},
		{"not to another that goes away", given(append(gone(), node("n2", leaving))...), "x:new"},
		{"new pods do not go there", given(node("n1", leaving), pod("y")), "y:new"},
		{"a DaemonSet's pod goes with its node", given(gone(ownedBy("DaemonSet", "d"))...), ""},
		{"a static pod goes with its node", given(gone(ownedBy("Node", "n1"))...), ""},
		{"a pod that has finished", given(gone(func(p *cluster.Pod) { p.Phase = corev1.PodSucceeded })...), ""},
		{"a pod that is being deleted", given(gone(func(p *cluster.Pod) { p.Deleting = true })...), ""},
		{"what it left does not count where it was", given(node("n1", leaving), running("x", "n1", apart("x")), node("n2")), "x:n2"},
		{"a pod of an unmanaged node", given(node("n1", unmanaged, leaving), running("x", "n1")), "x:new"},
	})
}
