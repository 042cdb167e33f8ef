package cluster

import "slices"

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

// AWSLabels are the well-known labels of the karpenter.k8s.aws domain, sorted:
// what instance types, reservations and placement groups say of themselves.
var AWSLabels = []string{
	LabelReservationID,
	"karpenter.k8s.aws/capacity-reservation-interruptible",
	LabelReservationType,
	"karpenter.k8s.aws/instance-accelerator-count",
	"karpenter.k8s.aws/instance-accelerator-manufacturer",
	"karpenter.k8s.aws/instance-accelerator-name",
	"karpenter.k8s.aws/instance-capability-flex",
	"karpenter.k8s.aws/instance-category",
	"karpenter.k8s.aws/instance-cpu",
	"karpenter.k8s.aws/instance-cpu-manufacturer",
	"karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz",
	"karpenter.k8s.aws/instance-ebs-bandwidth",
	"karpenter.k8s.aws/instance-encryption-in-transit-supported",
	"karpenter.k8s.aws/instance-family",
	"karpenter.k8s.aws/instance-generation",
	"karpenter.k8s.aws/instance-gpu-count",
	"karpenter.k8s.aws/instance-gpu-manufacturer",
	"karpenter.k8s.aws/instance-gpu-memory",
	"karpenter.k8s.aws/instance-gpu-name",
	"karpenter.k8s.aws/instance-hypervisor",
	"karpenter.k8s.aws/instance-local-nvme",
	"karpenter.k8s.aws/instance-memory",
	"karpenter.k8s.aws/instance-network-bandwidth",
	"karpenter.k8s.aws/instance-size",
	"karpenter.k8s.aws/instance-tenancy",
	"karpenter.k8s.aws/placement-group-id",
	"karpenter.k8s.aws/placement-group-partition",
}

// IsWellKnownLabel tells whether a pod may require a label that no NodePool
// defines, because the node's type, offering or pool decides its value. Beta
// aliases count as what they stand for. The hostname is not among them: it is
// a topology key and never a requirement.
func IsWellKnownLabel(key string) bool {
	switch NormalLabel(key) {
	case LabelZone, LabelRegion, LabelZoneID, LabelArch, LabelOS, LabelInstanceType,
		LabelWindowsBuild, LabelCapacityType, LabelNodePool:
		return true
	}
	_, found := slices.BinarySearch(AWSLabels, key)
	return found
}
