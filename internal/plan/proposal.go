package plan

import (
	"time"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// Proposal is what a planner wants to become real, in one conditional commit.
// It is valid alone: nothing outside of it needs to be committed with it.
type Proposal struct {
	// Trigger names the event that asked for the decision and Part tells apart
	// the proposals of one event; a second commit of the same pair loses.
	Trigger string
	Part    uint16
	Needs   []Precondition // exactly what the decision relied on
	Writes  []Write
	Wakes   []Wake
	Report  Report // why, and why not: never optional
}

// Key names a row of state.
type Key string

// Precondition is a row at a generation. Generation 0: the row must not exist.
type Precondition struct {
	Key Key
	Gen uint64
}

// Write is a claim to be created with the node that is planned for it.
type Write struct {
	Key   Key
	Claim cluster.NodeClaim
}

// Wake is a moment at which the cluster should be looked at again.
type Wake struct {
	At    time.Time
	Cause string
}

// Report says where each pod went and why, or every reason why nowhere.
type Report struct {
	NewNodes      []NewNode
	ExistingNodes []ExistingNode
	Unschedulable []LeftOut
	Warnings      []string
	Summary       Summary
}

// NewNode is a node to launch. InstanceType, Zone, CapacityType and
// PricePerHour are the cheapest choice; InstanceTypes and Zones are everything
// that may be launched with the same pods, cheapest first.
type NewNode struct {
	Name          string
	NodePool      string
	NodeClass     cluster.NodeClassRef
	InstanceType  string
	Zone          string
	CapacityType  string
	ReservationID string
	PricePerHour  float64 // USD
	Estimate      bool    // the price is an estimate
	InstanceTypes []string
	Zones         []string
	CapacityTypes []string
	Requirements  []cluster.Requirement
	Taints        []string // as key=value:effect, for people
	Labels        map[string]string
	Requests      cluster.Resources // of the pods and the daemons
	Daemons       cluster.Resources // the daemons' share of Requests
	Allocatable   cluster.Resources // of the cheapest choice
	Pods          []Placement
}

// ExistingNode is a standing node or a claim in flight that takes pods.
type ExistingNode struct {
	Name     string
	NodePool string // "" when not managed
	InFlight bool   // a claim whose node has not joined yet
	Pods     []Placement
}

// Placement is a pod and why it went where it is.
type Placement struct {
	Pod string // namespace/name
	Why string // short: the constraints that chose the place; "" when only price did
}

// LeftOut is a pod that goes nowhere, with every reason, the one to mend first.
type LeftOut struct {
	Pod     string
	Reasons []string
}

// Summary is the account of a plan. Prices are USD an hour and concern the new
// nodes alone.
type Summary struct {
	Pods, Scheduled   int
	NewNodes          int
	PricePerHour      float64
	LowerBoundPerHour float64
	CPUUtilization    float64 // requests ÷ allocatable of the new nodes, 0–1
	MemoryUtilization float64
	Estimates         bool // some of the prices are estimates
	SolveSeconds      float64
}
