package scheduling

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// Admits tells whether a pod's node selector, required node affinity and
// tolerations suit a node with these labels and taints.
func Admits(p *cluster.Pod, name string, labels map[string]string, taints []corev1.Taint) bool {
	if hard, _ := untolerated(taints, p.Tolerations); hard != nil {
		return false
	}
	g := signature{terms: podTerms(p)}
	return g.labelsAllow(name, labels)
}
