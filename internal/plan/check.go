package plan

import (
	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// CheckInput is what Check holds a proposal against: what the decision saw, and
// the settings that change which plan is right.
type CheckInput struct {
	Snapshot *cluster.Snapshot
	Proposal *Proposal
	// Types gives the instance types of a node class as they were for the
	// decision, before overlays; nil stands for a class that is not in the
	// snapshot.
	Types func(class *cluster.NodeClass) []cluster.InstanceType
	// NoSpot says that spot is not to be used whatever is offered.
	NoSpot bool
	// MinValuesBestEffort makes minValues a wish that no plan has to keep.
	MinValuesBestEffort bool
}

// Check returns nil when a proposal may be committed, else what is wrong with
// it: a Violation for each broken invariant, joined, at most MostViolations of
// them and a count of the rest. The order is that of the report.
//
// A proposal is right when
//
//   - the report, the writes and the preconditions say the same: one claim for
//     each new node, which must not exist yet;
//   - every pod that waits is placed once or left out with a reason, and no
//     other pod is in the report;
//   - what each new node may be launched as is offered, its price is true and is
//     the least, and its NodePool's requirements, minValues and limits hold, the
//     limits with what is in use and the largest option of each new node;
//   - reserved capacity is used no more often than it is there;
//   - kube-scheduler would admit each pod on its node, whatever the launch
//     chooses of what the plan allows: resources beside the daemons, taints, node
//     selector and affinity, host ports, volumes, spread, pod affinity and
//     anti-affinity, that of the pods which run there already included;
//   - there is an order in which pods that want each other's company can be bound.
//
// It shares no code with what makes plans. It does not ask whether a plan is
// good, nor whether a pod that it leaves out could have been placed. For plans
// without topology rules its time grows with the pods and nodes of the snapshot;
// with them also with the rules times the kinds of nodes.
func Check(in CheckInput) error {
	c := newChecker(in)
	c.placePods()
	c.checkAccounts()
	c.checkRecords()
	c.checkNewNodes()
	c.checkLimits()
	c.checkReservations()
	c.checkAdmission()
	c.checkVolumes()
	c.checkTopology()
	return c.faults.err()
}

// checker is one run of Check.
type checker struct {
	in     CheckInput
	snap   *cluster.Snapshot
	report *Report
	faults faults

	pools   map[string]*cluster.NodePool
	classes map[string]*cluster.NodeClass
	views   map[string]*poolView // of the NodePools that the plan uses
	types   map[string][]cluster.InstanceType

	sites   []*site // that stand and stay, in flight, then new
	siteOf  map[string]int32
	claimOf map[string]*cluster.NodeClaim // by the name of the node
	joined  map[*cluster.NodeClaim]bool   // claims whose node stands
	leaving map[string]bool               // nodes
	// boundTo is the site that each pod of the snapshot runs on, -1 for none.
	boundTo []int32
	seekers []*seeker
	waiting map[string]*seeker // by key

	written map[string]*cluster.NodeClaim // by name

	selectors     []*selector // the first is satisfied by every node
	selectorIndex map[string]int32
	values        []string // of labels
	valueIndex    map[string]int32
	lists         lists
	choices       []*choice
	choiceIndex   map[choiceKey]*choice
	daemons       []*daemon
	dims          dims
	storage       *storage

	buf []byte // for keys
}

// seeker is a pod that waits for a place, and what the report makes of it.
type seeker struct {
	pod  *cluster.Pod
	key  string
	site int32 // -1: not placed
	left bool
}

func newChecker(in CheckInput) *checker {
	c := &checker{
		in: in, snap: in.Snapshot, report: &in.Proposal.Report,
		pools: make(map[string]*cluster.NodePool, len(in.Snapshot.NodePools)), classes: make(map[string]*cluster.NodeClass, len(in.Snapshot.NodeClasses)),
		views: map[string]*poolView{}, types: map[string][]cluster.InstanceType{},
		selectors: []*selector{{}}, selectorIndex: map[string]int32{"": 0}, valueIndex: map[string]int32{}, choiceIndex: map[choiceKey]*choice{},
		lists: newLists(), dims: newDims(),
	}
	for i := range c.snap.NodePools {
		c.pools[c.snap.NodePools[i].Name] = &c.snap.NodePools[i]
	}
	for i := range c.snap.NodeClasses {
		c.classes[c.snap.NodeClasses[i].Name] = &c.snap.NodeClasses[i]
	}
	c.readStanding()
	c.readPods()
	c.readDaemons()
	return c
}
