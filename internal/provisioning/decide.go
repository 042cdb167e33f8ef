package provisioning

import (
	"fmt"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/catalog"
	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
	"github.com/dovetail-sh/dovetail/internal/scheduling"
)

// Input is what a decision depends on.
type Input struct {
	Snapshot *cluster.Snapshot
	// Types gives the instance types of a node class; nil is the default class.
	Types   func(class *cluster.NodeClass) []cluster.InstanceType
	Now     time.Time
	Trigger string
	Options Options
}

// Options are the installation's settings.
type Options struct {
	IgnorePreferences   bool
	MinValuesBestEffort bool
	DefaultSpread       []corev1.TopologySpreadConstraint
	NoSpot              bool
}

// Decide plans the pods that wait.
func Decide(in Input) (plan.Proposal, error) {
	w := newWorld(in.Snapshot)
	prob := &scheduling.Problem{
		Namespaces: in.Snapshot.Namespaces,
		Volumes:    volumes(in.Snapshot),
		Options: scheduling.Options{IgnorePreferences: in.Options.IgnorePreferences, MinValuesBestEffort: in.Options.MinValuesBestEffort,
			DefaultSpread: in.Options.DefaultSpread},
	}
	refused := w.collectPods(prob)
	notes := w.collectPools(prob, in)
	prob.Nodes = w.standing()
	res, err := scheduling.Solve(prob)
	if err != nil {
		return plan.Proposal{}, fmt.Errorf("placing the pods: %w", err)
	}
	r := reporter{w: w, prob: prob, res: res, refused: refused}
	prop := plan.Proposal{Trigger: in.Trigger, Report: r.report()}
	prop.Report.Warnings = append(prop.Report.Warnings, notes...)
	prop.Writes, prop.Needs = claims(prob, res, &prop.Report, in.Now)
	return prop, nil
}

// collectPods gathers the pods that wait or have to move; those that nobody can
// place are returned with their reasons.
func (w *world) collectPods(prob *scheduling.Problem) []plan.LeftOut {
	var refused []plan.LeftOut
	prob.Pods = make([]*cluster.Pod, 0, len(w.snap.Pods))
	take := func(p *cluster.Pod) {
		reasons := p.Problems
		if bad := restricted(p); bad != "" {
			reasons = append(reasons[:len(reasons):len(reasons)], bad)
		}
		if len(reasons) > 0 {
			refused = append(refused, plan.LeftOut{Pod: p.Key(), Reasons: reasons})
			return
		}
		prob.Pods = append(prob.Pods, p)
	}
	leaving := map[string]bool{}
	for i := range w.snap.Nodes {
		if n := &w.snap.Nodes[i]; w.goesAway(n) {
			leaving[n.Name] = true
		}
	}
	for i := range w.snap.Pods {
		p := &w.snap.Pods[i]
		if waits(p) || p.NodeName != "" && len(leaving) > 0 && leaving[p.NodeName] && moves(p) {
			take(p)
		}
	}
	return refused
}

func volumes(snap *cluster.Snapshot) scheduling.Volumes {
	v := scheduling.Volumes{Claims: make(map[string]*cluster.PVC, len(snap.PVCs)), PVs: make(map[string]*cluster.PV, len(snap.PVs)),
		Classes: make(map[string]*cluster.StorageClass, len(snap.StorageClasses))}
	for i := range snap.PVCs {
		v.Claims[snap.PVCs[i].Namespace+"/"+snap.PVCs[i].Name] = &snap.PVCs[i]
	}
	for i := range snap.PVs {
		v.PVs[snap.PVs[i].Name] = &snap.PVs[i]
	}
	for i := range snap.StorageClasses {
		v.Classes[snap.StorageClasses[i].Name] = &snap.StorageClasses[i]
	}
	return v
}

// collectPools gathers the NodePools that may open nodes, each with the types of
// its class. Pools with the same class share a list, which makes them share the
// work of compiling it.
func (w *world) collectPools(prob *scheduling.Problem, in Input) []string {
	use := w.inUse()
	var notes []string
	shared := map[string][]cluster.InstanceType{}
	for i := range w.snap.NodePools {
		np := &w.snap.NodePools[i]
		makes := !np.Deleting && np.Replicas == nil
		class := w.classes[np.NodeClass.Name]
		if class == nil && makes {
			notes = append(notes, fmt.Sprintf("NodePool %q refers to EC2NodeClass %q, which is not in the input: its nodes are planned with the defaults of AL2023", np.Name, np.NodeClass.Name))
		}
		key := ""
		if class != nil {
			key = class.Name
		}
		types, ok := shared[key]
		if !ok {
			types = in.Types(class)
			if in.Options.NoSpot {
				types = withoutSpot(types)
			}
			shared[key] = types
		}
		if len(w.snap.Overlays) > 0 {
			labels := map[string]string{cluster.LabelNodePool: np.Name, cluster.LabelNodeClass: np.NodeClass.Name}
			for k, v := range np.Labels {
				labels[k] = v
			}
			types = catalog.WithOverlays(types, w.snap.Overlays, labels)
		}
		w.types[np.Name] = types
		if makes {
			prob.Pools = append(prob.Pools, scheduling.Pool{Spec: np, Types: types, Daemons: w.daemons, InUse: use[np.Name]})
		}
	}
	sort.Strings(notes)
	return notes
}

// withoutSpot leaves out the spot offerings.
func withoutSpot(types []cluster.InstanceType) []cluster.InstanceType {
	out := make([]cluster.InstanceType, len(types))
	for i := range types {
		out[i] = types[i]
		out[i].Offerings = nil
		for _, o := range types[i].Offerings {
			if o.CapacityType != cluster.Spot {
				out[i].Offerings = append(out[i].Offerings, o)
			}
		}
	}
	return out
}

// taintText writes a taint as people do.
func taintText(t corev1.Taint) string {
	var b strings.Builder
	b.WriteString(t.Key)
	if t.Value != "" {
		b.WriteString("=" + t.Value)
	}
	b.WriteString(":" + string(t.Effect))
	return b.String()
}
