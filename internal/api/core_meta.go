package api

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// coreMeta is the metadata of an object, without what a plan never reads:
// managed fields alone are half of what kubectl prints of a pod.
type coreMeta struct {
	Name              string                  `json:"name,omitempty"`
	GenerateName      string                  `json:"generateName,omitempty"`
	Namespace         string                  `json:"namespace,omitempty"`
	UID               string                  `json:"uid,omitempty"`
	CreationTimestamp metav1.Time             `json:"creationTimestamp,omitempty"`
	DeletionTimestamp *metav1.Time            `json:"deletionTimestamp,omitempty"`
	Labels            map[string]string       `json:"labels,omitempty"`
	Annotations       map[string]string       `json:"annotations,omitempty"`
	OwnerReferences   []metav1.OwnerReference `json:"ownerReferences,omitempty"`

	SelfLink                   skipped `json:"selfLink,omitempty"`
	ResourceVersion            skipped `json:"resourceVersion,omitempty"`
	Generation                 skipped `json:"generation,omitempty"`
	DeletionGracePeriodSeconds skipped `json:"deletionGracePeriodSeconds,omitempty"`
	Finalizers                 skipped `json:"finalizers,omitempty"`
	ManagedFields              skipped `json:"managedFields,omitempty"`
	ClusterName                skipped `json:"clusterName,omitempty"`
}

// skipped is a field that is allowed and not read.
type skipped struct{}

// UnmarshalJSON accepts anything.
func (*skipped) UnmarshalJSON([]byte) error { return nil }

// owner is the controller among the owners of an object.
func (m *coreMeta) owner() cluster.Owner {
	for i := range m.OwnerReferences {
		if r := &m.OwnerReferences[i]; r.Controller != nil && *r.Controller {
			return cluster.Owner{Kind: r.Kind, Name: r.Name, UID: string(r.UID)}
		}
	}
	return cluster.Owner{}
}

// written tells whether the object was written by hand: what a server prints
// has a time of creation, and its admission has filled in what it fills in.
func (m *coreMeta) written() bool { return m.CreationTimestamp.IsZero() }

// ownAnnotations keeps the annotations of the domains that a plan reads.
func ownAnnotations(all map[string]string) map[string]string {
	var out map[string]string
	for k, v := range all {
		domain, _, ok := strings.Cut(k, "/")
		if !ok || !inDomain(domain, "karpenter.sh") && !inDomain(domain, "dovetail.sh") {
			continue
		}
		if out == nil {
			out = make(map[string]string)
		}
		out[k] = v
	}
	return out
}

func inDomain(name, domain string) bool {
	return name == domain || strings.HasSuffix(name, "."+domain)
}

// withCurrentNames gives a node or volume the current names of the labels that
// it carries under a beta name alone.
func withCurrentNames(labels map[string]string) map[string]string {
	for old, current := range cluster.BetaLabels {
		v, ok := labels[old]
		if !ok {
			continue
		}
		if _, ok := labels[current]; !ok {
			labels[current] = v
		}
	}
	return labels
}
