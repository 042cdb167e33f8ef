package cluster

// Labels and taints with a meaning of their own.
const (
	LabelZone         = "topology.kubernetes.io/zone"
	LabelRegion       = "topology.kubernetes.io/region"
	LabelZoneID       = "topology.k8s.aws/zone-id"
	LabelHostname     = "kubernetes.io/hostname"
	LabelArch         = "kubernetes.io/arch"
	LabelOS           = "kubernetes.io/os"
	LabelInstanceType = "node.kubernetes.io/instance-type"
	LabelWindowsBuild = "node.kubernetes.io/windows-build"

	LabelCapacityType = "karpenter.sh/capacity-type"
	LabelNodePool     = "karpenter.sh/nodepool"
	LabelRegistered   = "karpenter.sh/registered"
	LabelInitialized  = "karpenter.sh/initialized"
	LabelNodeClass    = "karpenter.k8s.aws/ec2nodeclass"

	LabelReservationID   = "karpenter.k8s.aws/capacity-reservation-id"
	LabelReservationType = "karpenter.k8s.aws/capacity-reservation-type"

	TaintUnregistered = "karpenter.sh/unregistered"
	TaintDisrupted    = "karpenter.sh/disrupted"

	AnnotationDoNotDisrupt = "karpenter.sh/do-not-disrupt"
)

// The capacity types, in the order in which a launch prefers them.
const (
	Reserved = "reserved"
	Spot     = "spot"
	OnDemand = "on-demand"
)

// BetaLabels maps the old names of well-known labels to the current ones.
// Requirements, selectors and topology keys are normalised with it before use.
var BetaLabels = map[string]string{
	"failure-domain.beta.kubernetes.io/zone":   LabelZone,
	"failure-domain.beta.kubernetes.io/region": LabelRegion,
	"beta.kubernetes.io/arch":                  LabelArch,
	"beta.kubernetes.io/os":                    LabelOS,
	"beta.kubernetes.io/instance-type":         LabelInstanceType,
}

// NormalLabel returns the current name of a label key.
func NormalLabel(key string) string {
	if k, ok := BetaLabels[key]; ok {
		return k
	}
	return key
}
