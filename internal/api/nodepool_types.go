package api

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The versions of the custom resources that are read.
const (
	versionPool    = "karpenter.sh/v1"
	versionClass   = "karpenter.k8s.aws/v1"
	versionOverlay = "karpenter.sh/v1alpha1"

	groupPool  = "karpenter.sh"
	groupClass = "karpenter.k8s.aws"
)

// The types below are the public schemas as Go. A pointer is nil where the
// manifest says nothing, which the rules tell apart from a zero; defaulting
// fills in what the schemas fill in.

// NodePool is karpenter.sh/v1 NodePool.
type NodePool struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta `json:"metadata"`
	Spec            *NodePoolSpec     `json:"spec"`
	Status          json.RawMessage   `json:"status,omitzero"`
}

// NodePoolSpec says what nodes a pool may have and when they go.
type NodePoolSpec struct {
	Template   *NodeClaimTemplate  `json:"template"`
	Disruption *Disruption         `json:"disruption,omitzero"`
	Limits     map[string]Quantity `json:"limits,omitzero"`
	Weight     *int32              `json:"weight,omitzero"`
	Replicas   *int64              `json:"replicas,omitzero"`
}

// NodeClaimTemplate is what the claims of a pool are made from.
type NodeClaimTemplate struct {
	Metadata *TemplateMeta          `json:"metadata,omitzero"`
	Spec     *NodeClaimTemplateSpec `json:"spec"`
}

// TemplateMeta is what a pool gives its nodes.
type TemplateMeta struct {
	Labels      map[string]string `json:"labels,omitzero"`
	Annotations map[string]string `json:"annotations,omitzero"`
}

// NodeClaimTemplateSpec is what the claims of a pool have in common.
type NodeClaimTemplateSpec struct {
	NodeClassRef           *NodeClassRef  `json:"nodeClassRef"`
	Requirements           []Requirement  `json:"requirements"`
	Taints                 []corev1.Taint `json:"taints,omitzero"`
	StartupTaints          []corev1.Taint `json:"startupTaints,omitzero"`
	ExpireAfter            *string        `json:"expireAfter,omitzero"`
	TerminationGracePeriod *string        `json:"terminationGracePeriod,omitzero"`
}

// NodeClassRef names a node class.
type NodeClassRef struct {
	Group *string `json:"group"`
	Kind  *string `json:"kind"`
	Name  *string `json:"name"`
}

// Requirement restricts the values of one label.
type Requirement struct {
	Key       *string  `json:"key"`
	Operator  *string  `json:"operator"`
	Values    []string `json:"values,omitzero"`
	MinValues *int64   `json:"minValues,omitzero"`
}

// Disruption says when nodes of a pool may be disrupted.
type Disruption struct {
	ConsolidateAfter    *string  `json:"consolidateAfter"`
	ConsolidationPolicy *string  `json:"consolidationPolicy,omitzero"`
	Budgets             []Budget `json:"budgets,omitzero"`
}

// Budget limits how many nodes of a pool are disrupted at a time.
type Budget struct {
	Nodes    *string  `json:"nodes"`
	Reasons  []string `json:"reasons,omitzero"`
	Schedule *string  `json:"schedule,omitzero"`
	Duration *string  `json:"duration,omitzero"`
}

// NodeClaim is karpenter.sh/v1 NodeClaim.
type NodeClaim struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta `json:"metadata"`
	Spec            *NodeClaimSpec    `json:"spec"`
	Status          NodeClaimStatus   `json:"status,omitzero"`
}

// NodeClaimSpec is the intent to have a node.
type NodeClaimSpec struct {
	NodeClaimTemplateSpec `json:",inline"`
	Resources             *NodeClaimResources `json:"resources,omitzero"`
}

// NodeClaimResources is what the pods of the claim asked for.
type NodeClaimResources struct {
	Requests map[string]Quantity `json:"requests,omitzero"`
}

// NodeClaimStatus is how far the claim has come.
type NodeClaimStatus struct {
	ProviderID  string              `json:"providerID,omitzero"`
	NodeName    string              `json:"nodeName,omitzero"`
	ImageID     string              `json:"imageID,omitzero"`
	Capacity    corev1.ResourceList `json:"capacity,omitzero"`
	Allocatable corev1.ResourceList `json:"allocatable,omitzero"`
	Conditions  []metav1.Condition  `json:"conditions,omitzero"`
}

// NodeOverlay is karpenter.sh/v1alpha1 NodeOverlay.
type NodeOverlay struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta `json:"metadata"`
	Spec            *NodeOverlaySpec  `json:"spec"`
	Status          json.RawMessage   `json:"status,omitzero"`
}

// NodeOverlaySpec changes the price or the extended resources of instance types.
type NodeOverlaySpec struct {
	Requirements    []OverlayRequirement `json:"requirements"`
	Price           *string              `json:"price,omitzero"`
	PriceAdjustment *string              `json:"priceAdjustment,omitzero"`
	Capacity        map[string]Quantity  `json:"capacity,omitzero"`
	Weight          *int32               `json:"weight,omitzero"`
}

// OverlayRequirement is a Requirement that knows no minValues.
type OverlayRequirement struct {
	Key      *string  `json:"key"`
	Operator *string  `json:"operator"`
	Values   []string `json:"values,omitzero"`
}
