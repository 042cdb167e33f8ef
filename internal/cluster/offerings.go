package cluster

// InstanceType is an EC2 instance type as nodes of one node class would be:
// labels, capacity and allocatable are after the class's settings.
type InstanceType struct {
	Name string
	Arch string
	OS   string
	// Labels that every node of the type carries, name, arch and os included,
	// zone and capacity type not.
	Labels      map[string]string
	Capacity    Resources
	Allocatable Resources // capacity − kube and system reserved − eviction; includes "pods"
	// VolumeLimit is how many volumes the EBS driver can attach.
	VolumeLimit int64
	// Exotic types (bare metal, GPU, accelerator) are used only where
	// something asks for them.
	Exotic    bool
	Offerings []Offering
}

// Offering is an instance type in a zone with a capacity type.
type Offering struct {
	Zone, ZoneID string
	CapacityType string
	Price        float64 // USD an hour
	Estimate     bool    // the price is an estimate, and is called one
	Unavailable  bool
	// Of reserved capacity only.
	ReservationID    string
	ReservationType  string
	ReservationCount int64 // instances still free
	// ReservationInterruptible is the value of the label
	// karpenter.k8s.aws/capacity-reservation-interruptible.
	ReservationInterruptible bool
}

// Snapshot is everything that a decision may look at, as of one moment. Lists
// are in no particular order; deciders sort what they need.
type Snapshot struct {
	Cluster, Region string
	Pods            []Pod
	Nodes           []Node
	Claims          []NodeClaim
	NodePools       []NodePool
	NodeClasses     []NodeClass
	Overlays        []NodeOverlay
	DaemonSets      []DaemonSet
	PVCs            []PVC
	PVs             []PV
	StorageClasses  []StorageClass
	PDBs            []PDB
	Namespaces      []Namespace
}
