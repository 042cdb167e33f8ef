package cluster

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Pod is what a decision needs to know of a pod, and nothing else.
type Pod struct {
	Namespace, Name, UID string
	Labels               map[string]string
	Annotations          map[string]string // only keys of the karpenter.sh and dovetail.sh domains
	Owner                Owner
	Created              time.Time

	NodeName          string // bound to this node
	NominatedNodeName string
	Phase             corev1.PodPhase
	Deleting          bool // a deletion timestamp is set
	Unschedulable     bool // PodScheduled is False with reason Unschedulable
	Gated             bool // has scheduling gates
	Virtual           bool // headroom: plans like a pod, is never bound

	// Requests are what the scheduler counts: containers, init containers,
	// sidecars, pod-level resources, overhead; never the "pods" resource.
	Requests Resources

	NodeSelector map[string]string
	Affinity     *corev1.Affinity
	Tolerations  []corev1.Toleration
	Spread       []corev1.TopologySpreadConstraint
	HostPorts    []HostPort
	Volumes      []Volume
	Devices      []DeviceRequest // from resource claims (DRA)

	Priority          int32
	PriorityClassName string
	SchedulerName     string

	// Problems say why the pod cannot be planned whatever the nodes are: it
	// refers to something that is not there. Each is a whole sentence for the
	// user. A pod with problems is reported and never placed.
	Problems []string
}

// Key is the pod's namespace/name.
func (p *Pod) Key() string { return p.Namespace + "/" + p.Name }

// Owner is the controller of an object; empty for a bare pod.
type Owner struct{ Kind, Name, UID string }

// HostPort is a port of the host that a pod occupies. An empty IP, 0.0.0.0 and
// :: mean every address.
type HostPort struct {
	IP       string
	Protocol corev1.Protocol
	Port     int32
}

// Volume is a use of a persistent volume claim, or of an ephemeral volume whose
// claim the pod's controller will make.
type Volume struct {
	Claim string // name of the PVC in the pod's namespace
	// Ephemeral volumes have no PVC yet; then StorageClass is the class of the
	// template ("" means the default class).
	Ephemeral    bool
	StorageClass string
	// Driver is set for inline CSI volumes, which count against a node's limit
	// without a claim; Claim is empty then.
	Driver string
}

// DeviceRequest is a count of devices of a device class that a resource claim
// asks for.
type DeviceRequest struct {
	Class string
	Count int64
}

// PVC is a persistent volume claim.
type PVC struct {
	Namespace, Name string
	StorageClass    *string // nil: the default class
	VolumeName      string  // bound to this PV
	Phase           corev1.PersistentVolumeClaimPhase
	Deleting        bool
	AccessModes     []corev1.PersistentVolumeAccessMode
	// SelectedNode is the node that the scheduler chose for delayed binding.
	SelectedNode string
}

// PV is a persistent volume.
type PV struct {
	Name         string
	Driver       string // CSI driver, "" for others
	StorageClass string
	NodeAffinity *corev1.NodeSelector // required
}

// StorageClass says how volumes of a class are bound.
type StorageClass struct {
	Name              string
	Provisioner       string
	Default           bool
	WaitForConsumer   bool
	AllowedTopologies []corev1.TopologySelectorTerm
}

// PDB is a PodDisruptionBudget.
type PDB struct {
	Namespace, Name    string
	Selector           *Selector
	DisruptionsAllowed int32
	UnhealthyAlways    bool
}

// Namespace is a namespace with the labels that namespace selectors match.
type Namespace struct {
	Name   string
	Labels map[string]string
}

// DaemonSet is a DaemonSet whose pods every matching node will run. Template
// holds the pod as the DaemonSet's controller would make it, without a name.
type DaemonSet struct {
	Namespace, Name string
	Template        Pod
}
