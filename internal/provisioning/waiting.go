package provisioning

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// waits tells whether a pod asks for a place: it has none, is not gone, gated,
// or promised to a node, and is not the business of a DaemonSet or the kubelet.
func waits(p *cluster.Pod) bool {
	if p.NodeName != "" || p.NominatedNodeName != "" || p.Deleting || p.Gated || finished(p) {
		return false
	}
	if p.Owner.Kind == "DaemonSet" || p.Owner.Kind == "Node" {
		return false
	}
	return (p.Unschedulable || p.Virtual) && !optsOut(p)
}

func finished(p *cluster.Pod) bool {
	return p.Phase == corev1.PodSucceeded || p.Phase == corev1.PodFailed
}

// moves tells whether a pod of a node that goes away needs another place.
func moves(p *cluster.Pod) bool {
	return !p.Deleting && !finished(p) && p.Owner.Kind != "DaemonSet" && p.Owner.Kind != "Node"
}

// optsOut tells whether a pod refuses nodes of any NodePool: it is left alone
// without a word.
func optsOut(p *cluster.Pod) bool {
	refuses := false
	eachExpression(p, func(e *corev1.NodeSelectorRequirement) {
		refuses = refuses || e.Key == cluster.LabelNodePool && e.Operator == corev1.NodeSelectorOpDoesNotExist
	})
	return refuses
}

func eachExpression(p *cluster.Pod, f func(e *corev1.NodeSelectorRequirement)) {
	if p.Affinity == nil || p.Affinity.NodeAffinity == nil || p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return
	}
	terms := p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	for i := range terms {
		for k := range terms[i].MatchExpressions {
			f(&terms[i].MatchExpressions[k])
		}
	}
}

// offered are the labels of the karpenter.sh domain that nodes carry and pods
// may ask for.
var offered = map[string]bool{
	cluster.LabelNodePool:     true,
	cluster.LabelCapacityType: true,
}

// restricted names what is wrong with the label keys that a pod asks for; ""
// when nothing is. Labels of the karpenter.sh domain are the nodes' state, which
// a node to be made cannot promise.
func restricted(p *cluster.Pod) string {
	bad := ""
	check := func(where, key string) {
		if bad == "" && strings.HasPrefix(key, "karpenter.sh/") && !offered[key] {
			bad = fmt.Sprintf("its %s asks for the label %s, which is not one to choose nodes by: use karpenter.sh/nodepool, karpenter.sh/capacity-type or a label of the NodePool", where, key)
		}
	}
	for _, k := range sortedKeys(p.NodeSelector) {
		check("node selector", k)
	}
	eachExpression(p, func(e *corev1.NodeSelectorRequirement) { check("required node affinity", e.Key) })
	return bad
}
