package provisioning

import (
	"crypto/sha256"
	"encoding/base32"
	"maps"
	"sort"
	"strings"
	"time"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
	"github.com/dovetail-sh/dovetail/internal/scheduling"
)

// reporter writes the report of a result.
type reporter struct {
	w       *world
	prob    *scheduling.Problem
	res     *scheduling.Result
	refused []plan.LeftOut
}

func (r *reporter) report() plan.Report {
	rep := plan.Report{}
	r.newNodes(&rep)
	r.existing(&rep)
	rep.Unschedulable = append(rep.Unschedulable, r.refused...)
	for _, l := range r.res.Left {
		rep.Unschedulable = append(rep.Unschedulable, plan.LeftOut{Pod: r.prob.Pods[l.Pod].Key(), Reasons: l.Reasons})
	}
	sort.SliceStable(rep.Unschedulable, func(i, j int) bool { return rep.Unschedulable[i].Pod < rep.Unschedulable[j].Pod })
	rep.Summary.Pods = len(r.prob.Pods) + len(r.refused)
	rep.Summary.Scheduled = rep.Summary.Pods - len(rep.Unschedulable)
	rep.Summary.LowerBoundPerHour = r.res.LowerBound
	return rep
}

func (r *reporter) placements(pods []int, why string) []plan.Placement {
	out := make([]plan.Placement, len(pods))
	for i, p := range pods {
		out[i] = plan.Placement{Pod: r.prob.Pods[p].Key(), Why: why}
	}
	return out
}

func (r *reporter) newNodes(rep *plan.Report) {
	names := map[string]bool{}
	var asked, room [2]float64
	rep.NewNodes = make([]plan.NewNode, 0, len(r.res.Nodes))
	for i := range r.res.Nodes {
		n := &r.res.Nodes[i]
		np := r.prob.Pools[n.Pool].Spec
		nn := plan.NewNode{
			NodePool: np.Name, NodeClass: np.NodeClass,
			InstanceType: n.Cheapest.Type.Name, Zone: n.Cheapest.Zone, CapacityType: n.Cheapest.CapacityType, ReservationID: n.Cheapest.ReservationID,
			PricePerHour: n.Cheapest.Price, Estimate: n.Cheapest.Estimate,
			InstanceTypes: n.Types, Zones: n.Zones, CapacityTypes: n.CapacityTypes, Requirements: n.Requirements,
			Labels: n.Labels, Requests: n.Requests, Daemons: n.Daemons, Allocatable: n.Cheapest.Type.Allocatable,
			Pods: r.placements(n.Pods, n.Why),
		}
		for _, t := range np.Taints {
			nn.Taints = append(nn.Taints, taintText(t))
		}
		nn.Name = nodeName(np.Name, nn.Pods[0].Pod, names)
		rep.NewNodes = append(rep.NewNodes, nn)
		rep.Summary.PricePerHour += nn.PricePerHour
		rep.Summary.Estimates = rep.Summary.Estimates || nn.Estimate
		for d, name := range [2]string{cluster.CPU, cluster.Memory} {
			asked[d] += float64(nn.Requests.Get(name))
			room[d] += float64(nn.Allocatable.Get(name))
		}
	}
	rep.Summary.NewNodes = len(rep.NewNodes)
	if room[0] > 0 {
		rep.Summary.CPUUtilization = asked[0] / room[0]
	}
	if room[1] > 0 {
		rep.Summary.MemoryUtilization = asked[1] / room[1]
	}
}

// nodeName makes a name of the pool's name and the first pod of the node, so that
// the same plan has the same names.
func nodeName(pool, pod string, taken map[string]bool) string {
	for salt := ""; ; salt += "+" {
		sum := sha256.Sum256([]byte(pool + "\x00" + pod + salt))
		name := pool + "-" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:8]
		if !taken[name] {
			taken[name] = true
			return name
		}
	}
}

func (r *reporter) existing(rep *plan.Report) {
	for _, l := range r.res.Standing {
		n := &r.prob.Nodes[l.Node]
		rep.ExistingNodes = append(rep.ExistingNodes, plan.ExistingNode{Name: n.Name, NodePool: n.Labels[cluster.LabelNodePool],
			InFlight: l.Node >= len(r.w.snap.Nodes), Pods: r.placements(l.Pods, "free room")})
	}
	sort.SliceStable(rep.ExistingNodes, func(i, j int) bool { return rep.ExistingNodes[i].Name < rep.ExistingNodes[j].Name })
}

// hashAnnotation carries the hash of the template that a claim was made from, by
// which drift is seen.
const hashAnnotation = "karpenter.sh/nodepool-hash"

func annotations(np *cluster.NodePool) map[string]string {
	if np.Hash == "" {
		return np.Annotations
	}
	out := maps.Clone(np.Annotations)
	if out == nil {
		out = map[string]string{}
	}
	out[hashAnnotation] = np.Hash
	return out
}

// claims are the writes of the plan: a claim for each new node, which must not
// exist yet.
func claims(prob *scheduling.Problem, res *scheduling.Result, rep *plan.Report, now time.Time) ([]plan.Write, []plan.Precondition) {
	writes := make([]plan.Write, 0, len(res.Nodes))
	needs := make([]plan.Precondition, 0, len(res.Nodes))
	for i := range res.Nodes {
		np := prob.Pools[res.Nodes[i].Pool].Spec
		nn := &rep.NewNodes[i]
		key := plan.Key("claim/" + nn.Name)
		needs = append(needs, plan.Precondition{Key: key})
		writes = append(writes, plan.Write{Key: key, Claim: cluster.NodeClaim{
			Name: nn.Name, NodePool: np.Name, NodeClass: np.NodeClass, Labels: nn.Labels, Annotations: annotations(np),
			Requirements: nn.Requirements, Taints: np.Taints, StartupTaints: np.StartupTaints,
			ExpireAfter: np.ExpireAfter, TerminationGracePeriod: np.TerminationGracePeriod,
			Requests: nn.Requests, Capacity: res.Nodes[i].Cheapest.Type.Capacity, Allocatable: nn.Allocatable, Created: now,
		}})
	}
	return writes, needs
}
