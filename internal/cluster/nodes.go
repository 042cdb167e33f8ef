package cluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Node is a Kubernetes node, managed or not.
type Node struct {
	Name, UID, ProviderID string
	Labels                map[string]string
	Annotations           map[string]string // only keys of the karpenter.sh and dovetail.sh domains
	Taints                []corev1.Taint
	Capacity, Allocatable Resources
	Ready                 bool
	Cordoned              bool // spec.unschedulable
	Deleting              bool
	Created               time.Time
	// VolumeLimits is how many volumes a CSI driver attaches, from CSINode.
	VolumeLimits map[string]int64
}

// NodePoolName is the NodePool that the node belongs to, "" when it is not managed.
func (n *Node) NodePoolName() string { return n.Labels[LabelNodePool] }

// Initialized tells whether the node has left its start behind, so that its
// startup taints count and its allocatable is what it reports. A node that is
// not managed always has.
func (n *Node) Initialized() bool {
	return n.NodePoolName() == "" || n.Labels[LabelInitialized] == "true"
}

// NodeClaim is the intent to have a node, in flight or fulfilled.
type NodeClaim struct {
	Name, UID   string
	NodePool    string
	NodeClass   NodeClassRef
	Labels      map[string]string
	Annotations map[string]string

	Requirements           []Requirement
	Taints, StartupTaints  []corev1.Taint
	ExpireAfter            Duration
	TerminationGracePeriod *time.Duration
	Requests               Resources

	ProviderID, NodeName, ImageID string
	Capacity, Allocatable         Resources // what the type promises, before the node reports
	Created                       time.Time
	Deleting                      bool
	Launched, Registered          bool
	Initialized                   bool
}

// NodeClassRef names a node class.
type NodeClassRef struct{ Group, Kind, Name string }

// Duration is a duration or Never.
type Duration struct {
	time.Duration
	Never bool
}

// Operator of a Requirement.
type Operator string

// The operators of node requirements. Gte and Lte are the NodePool API's own.
const (
	In           Operator = "In"
	NotIn        Operator = "NotIn"
	Exists       Operator = "Exists"
	DoesNotExist Operator = "DoesNotExist"
	Gt           Operator = "Gt"
	Lt           Operator = "Lt"
	Gte          Operator = "Gte"
	Lte          Operator = "Lte"
)

// Requirement restricts the values of one label. Values are as written; the
// key is normalised (no beta aliases).
type Requirement struct {
	Key       string
	Operator  Operator
	Values    []string
	MinValues int // 0: none
}

// NodePool is a pool of nodes that may be made, with its defaults filled in.
type NodePool struct {
	Name, UID string
	Hash      string // of the template, for drift
	Weight    int32  // 0 when not set, which is the lowest
	Replicas  *int64 // static capacity
	Deleting  bool

	Labels, Annotations    map[string]string // of the template
	NodeClass              NodeClassRef
	Requirements           []Requirement
	Taints, StartupTaints  []corev1.Taint
	ExpireAfter            Duration
	TerminationGracePeriod *time.Duration
	Limits                 Resources
	Disruption             Disruption
}

// Disruption is a NodePool's disruption block with defaults.
type Disruption struct {
	ConsolidateAfter    Duration
	ConsolidationPolicy string
	Budgets             []Budget
}

// Budget limits voluntary disruption of a NodePool's nodes.
type Budget struct {
	Nodes    string // N or N%
	Reasons  []string
	Schedule string // cron in UTC, "" when always
	Duration time.Duration
}

// NodeClass is the part of an EC2NodeClass that decides what its instances are
// worth to a plan. Pointers are nil where the user said nothing.
type NodeClass struct {
	Name      string
	AMIFamily string // AL2, AL2023, Bottlerocket, Custom, Windows2019, Windows2022, Windows2025
	// AMIArchs are the architectures that the class's images cover; empty: any.
	AMIArchs []string
	// Zones and ZoneIDs are those of the class's subnets (status.subnets);
	// empty: not resolved yet, every zone counts.
	Zones       []string
	ZoneIDs     map[string]string // zone → zone id
	Kubelet     Kubelet
	RAID0       bool // instanceStorePolicy
	Disks       []Disk
	EFAOnly     int64 // efa-only interfaces on card 0
	Interfaces  int64 // network interfaces asked for
	MaxCard     int64 // highest network card index asked for
	NestedVirt  bool  // cpuOptions.nestedVirtualization enabled
	NitroOnly   bool  // connectionTracking is set
	Tenancy     string
	Reserved    []CapacityReservation
	ReservedENI int64 // the installation's reserved-enis setting
}

// Kubelet is the kubelet block of a node class.
type Kubelet struct {
	MaxPods, PodsPerCore       *int64
	SystemReserved             map[string]string
	KubeReserved               map[string]string
	EvictionHard, EvictionSoft map[string]string
}

// Disk is a block device mapping.
type Disk struct {
	DeviceName string
	Root       bool
	SizeBytes  int64
}

// CapacityReservation is an ODCR or capacity block that the class may use.
type CapacityReservation struct {
	ID            string
	InstanceType  string
	Zone          string
	Type          string // default or capacity-block
	Available     int64
	Interruptible bool
	Expiring      bool
}

// NodeOverlay changes the price or the extended resources of matching types.
type NodeOverlay struct {
	Name         string
	Requirements []Requirement
	Price        *float64 // USD an hour, replaces
	// Adjustment is added to the price (Percent false) or scales it by
	// 1 + Adjustment/100 (Percent true).
	Adjustment *float64
	Percent    bool
	Capacity   Resources
	Weight     int32
}
