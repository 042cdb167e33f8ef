package api

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// poolHash is the hash of what a NodePool gives to its nodes, for drift: a
// node whose claim carries another hash was made from another template.
// Requirements are left out, as drift compares them with the node itself. The
// order of taints and the spelling of durations make no difference.
func poolHash(p *cluster.NodePool) string {
	in := struct {
		Labels, Annotations    map[string]string
		NodeClass              cluster.NodeClassRef
		Taints, StartupTaints  []string
		ExpireAfter            time.Duration // below 0: never
		TerminationGracePeriod *time.Duration
	}{
		NodeClass:              p.NodeClass,
		Taints:                 taintSet(p.Taints),
		StartupTaints:          taintSet(p.StartupTaints),
		ExpireAfter:            p.ExpireAfter.Duration,
		TerminationGracePeriod: p.TerminationGracePeriod,
	}
	if len(p.Labels) > 0 {
		in.Labels = p.Labels
	}
	if len(p.Annotations) > 0 {
		in.Annotations = p.Annotations
	}
	if p.ExpireAfter.Never {
		in.ExpireAfter = -1
	}
	b, _ := json.Marshal(in) // of maps, strings and numbers this cannot fail
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// taintSet writes taints in an order of their own.
func taintSet(taints []corev1.Taint) []string {
	var out []string
	for _, t := range taints {
		out = append(out, t.Key+"="+t.Value+":"+string(t.Effect))
	}
	slices.SortFunc(out, cmp.Compare[string])
	return out
}
