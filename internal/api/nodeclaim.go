package api

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// claimHints say what became of fields that older versions had.
var claimHints = map[string]string{
	"spec.kubelet":                 poolHints["spec.template.spec.kubelet"],
	"spec.nodeClassRef.apiVersion": poolHints["spec.template.spec.nodeClassRef.apiVersion"],
}

// readNodeClaim decodes, defaults, validates and converts a NodeClaim.
func readNodeClaim(l *loader, o *Object) any {
	in := &NodeClaim{}
	before := l.rep.count()
	l.rep.hints = claimHints
	decodeStrict(o.Raw, in, l.rep)
	l.rep.hints = nil
	checkMeta(&in.Metadata, l.rep)
	if in.Spec == nil {
		l.rep.missing("spec", "a NodeClaim says in it which node it is for")
		return nil
	}
	defaultTemplate(&in.Spec.NodeClaimTemplateSpec)
	out := checkTemplateSpec(&in.Spec.NodeClaimTemplateSpec, "spec", inClaim, l.rep)
	if in.Spec.Resources != nil {
		out.Requests = quantities(in.Spec.Resources.Requests, "spec.resources.requests", l.rep)
	}
	if l.rep.count() > before {
		return nil
	}
	m := &in.Metadata
	out.Name, out.UID = m.Name, string(m.UID)
	out.NodePool = poolOf(m)
	out.Labels, out.Annotations = m.Labels, m.Annotations
	out.Created, out.Deleting = m.CreationTimestamp.Time, m.DeletionTimestamp != nil
	claimStatus(&in.Status, &out)
	l.result.Snapshot.Claims = append(l.result.Snapshot.Claims, out)
	return in
}

// poolOf is the NodePool that made a claim, "" when none did.
func poolOf(m *metav1.ObjectMeta) string {
	if pool := m.Labels[cluster.LabelNodePool]; pool != "" {
		return pool
	}
	for _, owner := range m.OwnerReferences {
		if owner.Kind == "NodePool" && strings.HasPrefix(owner.APIVersion, groupPool+"/") {
			return owner.Name
		}
	}
	return ""
}

// claimStatus takes over how far the claim has come. A status is written by a
// controller: what cannot be used in it is as good as absent.
func claimStatus(s *NodeClaimStatus, out *cluster.NodeClaim) {
	out.ProviderID, out.NodeName, out.ImageID = s.ProviderID, s.NodeName, s.ImageID
	out.Capacity, out.Allocatable = usable(s.Capacity), usable(s.Allocatable)
	for _, c := range s.Conditions {
		is := c.Status == metav1.ConditionTrue
		switch c.Type {
		case "Launched":
			out.Launched = is
		case "Registered":
			out.Registered = is
		case "Initialized":
			out.Initialized = is
		}
	}
}

// usable converts the amounts of a list that can be used.
func usable(list corev1.ResourceList) cluster.Resources {
	var out cluster.Resources
	for _, name := range sortedKeys(list) {
		if amount, problem := amountOf(string(name), list[name]); problem == "" {
			out = append(out, cluster.Resource{Name: string(name), Amount: amount})
		}
	}
	return out
}
