package naive

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
)

// Stage is a plan put on its nodes: what Check looks at, for tests that hold the
// checker itself against something else.
type Stage struct {
	c *checker
	// Nodes are the standing nodes and claims that stay, then the new nodes as
	// what is cheapest for them.
	Nodes []StagedNode
}

// StagedNode is a node as the scheduler would see it.
type StagedNode struct {
	Name         string
	Labels       map[string]string
	Taints       []corev1.Taint
	Allocatable  map[string]int64
	VolumeLimits map[string]int64 // by CSI driver
	Pods         []*cluster.Pod   // those that run, those that are planned, and daemons
	Planned      []*cluster.Pod   // those of Pods that the plan puts here
}

// NewStage puts a report's pods on its nodes.
func NewStage(snap *cluster.Snapshot, types Types, report plan.Report) *Stage {
	s := &Stage{c: newChecker(snap, types, &report)}
	for _, n := range s.c.world.nodes {
		s.Nodes = append(s.Nodes, StagedNode{n.name, n.labels, n.taints, n.alloc, n.limits, n.pods, s.c.planned(n)})
	}
	return s
}

// Refusals says why a node, by its place among Nodes, does not admit a pod that
// is staged or waits, with every other pod where it is; nothing when it does.
func (s *Stage) Refusals(p *cluster.Pod, node int) []string {
	n := s.c.world.nodes[node]
	return append(s.c.refusals(p, n), s.c.topologyRefusals(s.c.world, p, n)...)
}
