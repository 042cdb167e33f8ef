package scheduling

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// Problem is what Solve places and where it may.
type Problem struct {
	Pods  []*cluster.Pod // to place; none may have Problems
	Nodes []Standing
	Pools []Pool

	Volumes    Volumes
	Namespaces []cluster.Namespace
	Options    Options
}

// Options are the settings that change what a good place is.
type Options struct {
	IgnorePreferences   bool
	MinValuesBestEffort bool
	DefaultSpread       []corev1.TopologySpreadConstraint // for pods that declare none; the selector is the pod's own labels
}

// Standing is a node that stands or a claim that is on its way, with what it
// has already. Labels and taints are those that count now: while a node starts,
// its startup and ephemeral taints are left out by the caller.
type Standing struct {
	Name         string
	Labels       map[string]string
	Taints       []corev1.Taint
	Allocatable  cluster.Resources // includes "pods"
	VolumeLimits map[string]int64  // by driver; absent means no limit
	Pods         []*cluster.Pod    // bound, their resources included in Used
	Used         cluster.Resources // of bound pods and of daemons that will come; includes "pods"
	InFlight     bool              // a claim whose node has not joined: comes after those that stand
	Closed       bool              // cordoned or going away: its pods count for topology, it takes none
	Leaving      bool              // going away: its domains are not there to be spread over
}

// Pool is a NodePool that may open nodes.
type Pool struct {
	Spec    *cluster.NodePool
	Types   []cluster.InstanceType // of its node class, overlays applied
	Daemons []*cluster.DaemonSet
	InUse   cluster.Resources // capacity of the pool's nodes and claims; includes "nodes"
}

// Volumes are the storage objects that pods refer to.
type Volumes struct {
	Claims  map[string]*cluster.PVC // by namespace/name
	PVs     map[string]*cluster.PV
	Classes map[string]*cluster.StorageClass
}

// Result is where the pods go. Indexes of pods point into Problem.Pods.
type Result struct {
	Nodes    []Node
	Standing []Landing
	Left     []Left
	// LowerBound is a price an hour that no plan for the pods on new nodes can
	// beat: a feasible solution of the dual of the fractional relaxation.
	LowerBound float64
}

// Node is a node to open.
type Node struct {
	Pool     int
	Cheapest Choice
	// Types, Zones and CapacityTypes are what may be launched, cheapest first:
	// every offered combination of the three holds the pods.
	Types, Zones, CapacityTypes []string
	Requirements                []cluster.Requirement
	Labels                      map[string]string
	Requests                    cluster.Resources // pods and daemons of the cheapest choice
	Daemons                     cluster.Resources
	Pods                        []int
	Why                         string
}

// Choice is one offering.
type Choice struct {
	Type          *cluster.InstanceType
	Zone          string
	CapacityType  string
	ReservationID string
	Price         float64
	Estimate      bool
}

// Landing is a standing node with the pods it takes.
type Landing struct {
	Node int // index into Problem.Nodes
	Pods []int
}

// Left is a pod that goes nowhere, with the reasons, the one to mend first.
type Left struct {
	Pod     int
	Reasons []string
}
