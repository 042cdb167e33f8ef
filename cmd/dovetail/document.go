package main

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
)

// apiVersion of the documents that this command writes.
const apiVersion = "dovetail.sh/v1"

// result is a plan and what has to be said about how it came to be.
type result struct {
	report plan.Report
	// notes say what was assumed because the input did not say it.
	notes []string
	// currency is what prices are in, such as USD.
	currency string
	// allocated is how many bytes the planner allocated, whether or not they
	// were given back.
	allocated uint64
}

// The fields of a plan as JSON and YAML. A field that is there may not be
// renamed; new ones may join. Lists are never null.
type (
	newNodeJSON struct {
		Name          string            `json:"name"`
		NodePool      string            `json:"nodePool"`
		NodeClass     string            `json:"nodeClass"`
		InstanceType  string            `json:"instanceType"`
		Zone          string            `json:"zone"`
		CapacityType  string            `json:"capacityType"`
		ReservationID string            `json:"reservationID,omitempty"`
		PricePerHour  float64           `json:"pricePerHour"`
		Estimate      bool              `json:"estimate"`
		InstanceTypes []string          `json:"instanceTypes"`
		Zones         []string          `json:"zones"`
		CapacityTypes []string          `json:"capacityTypes"`
		Requests      map[string]string `json:"requests"`
		Daemons       map[string]string `json:"daemons"`
		Allocatable   map[string]string `json:"allocatable"`
		Labels        map[string]string `json:"labels"`
		Taints        []string          `json:"taints"`
		Pods          []string          `json:"pods"`
	}
	existingNodeJSON struct {
		Name     string   `json:"name"`
		NodePool string   `json:"nodePool,omitempty"`
		InFlight bool     `json:"inFlight"`
		Pods     []string `json:"pods"`
	}
	leftOutJSON struct {
		Pod     string   `json:"pod"`
		Reasons []string `json:"reasons"`
	}
	summaryJSON struct {
		Pods              int     `json:"pods"`
		Scheduled         int     `json:"scheduled"`
		NewNodes          int     `json:"newNodes"`
		PricePerHour      float64 `json:"pricePerHour"`
		LowerBoundPerHour float64 `json:"lowerBoundPerHour"`
		CPUUtilization    float64 `json:"cpuUtilization"`
		MemoryUtilization float64 `json:"memoryUtilization"`
		Currency          string  `json:"currency"`
		Estimates         bool    `json:"estimates"`
		SolveSeconds      float64 `json:"solveSeconds"`
		AllocatedBytes    uint64  `json:"allocatedBytes"`
	}
)

func newNodeDocument(n *plan.NewNode) newNodeJSON {
	return newNodeJSON{
		Name:          n.Name,
		NodePool:      n.NodePool,
		NodeClass:     n.NodeClass.Name,
		InstanceType:  n.InstanceType,
		Zone:          n.Zone,
		CapacityType:  n.CapacityType,
		ReservationID: n.ReservationID,
		PricePerHour:  n.PricePerHour,
		Estimate:      n.Estimate,
		InstanceTypes: list(n.InstanceTypes),
		Zones:         list(n.Zones),
		CapacityTypes: list(n.CapacityTypes),
		Requests:      quantities(n.Requests),
		Daemons:       quantities(n.Daemons),
		Allocatable:   quantities(n.Allocatable),
		Labels:        orEmpty(n.Labels),
		Taints:        list(n.Taints),
		Pods:          podNames(n.Pods),
	}
}

func existingNodeDocument(n *plan.ExistingNode) existingNodeJSON {
	return existingNodeJSON{n.Name, n.NodePool, n.InFlight, podNames(n.Pods)}
}

func leftOutDocument(l *plan.LeftOut) leftOutJSON {
	return leftOutJSON{l.Pod, list(l.Reasons)}
}

func summaryDocument(r *result) summaryJSON {
	s := r.report.Summary
	return summaryJSON{
		Pods:              s.Pods,
		Scheduled:         s.Scheduled,
		NewNodes:          s.NewNodes,
		PricePerHour:      rounded(s.PricePerHour),
		LowerBoundPerHour: rounded(s.LowerBoundPerHour),
		CPUUtilization:    rounded(s.CPUUtilization),
		MemoryUtilization: rounded(s.MemoryUtilization),
		Currency:          r.currency,
		Estimates:         s.Estimates,
		SolveSeconds:      s.SolveSeconds,
		AllocatedBytes:    r.allocated,
	}
}

// rounded takes the noise of binary fractions out of a sum.
func rounded(x float64) float64 { return math.Round(x*1e9) / 1e9 }

// quantities writes amounts as Kubernetes quantities.
func quantities(r cluster.Resources) map[string]string {
	out := make(map[string]string, len(r))
	for _, x := range r {
		out[x.Name] = cluster.FormatAmount(x.Name, x.Amount)
	}
	return out
}

func podNames(placements []plan.Placement) []string {
	out := make([]string, len(placements))
	for i := range placements {
		out[i] = placements[i].Pod
	}
	return out
}

// list makes a nil list an empty one.
func list(l []string) []string {
	if l == nil {
		return []string{}
	}
	return l
}

// orEmpty makes a nil map an empty one.
func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// group is pods that are left out for the same reasons.
type group struct {
	reasons []string
	pods    []string
}

// groupLeftOut puts pods with equal reasons together, the largest group first.
func groupLeftOut(left []plan.LeftOut) []group {
	index := make(map[string]int)
	var out []group
	for i := range left {
		key := strings.Join(left[i].Reasons, "\n")
		at, ok := index[key]
		if !ok {
			at = len(out)
			index[key] = at
			out = append(out, group{reasons: left[i].Reasons})
		}
		out[at].pods = append(out[at].pods, left[i].Pod)
	}
	slices.SortStableFunc(out, func(a, b group) int {
		return cmp.Or(cmp.Compare(len(b.pods), len(a.pods)), cmp.Compare(a.pods[0], b.pods[0]))
	})
	return out
}
