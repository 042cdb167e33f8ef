package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
)

// What became of a pod.
const (
	outcomeNew       = "newNode"
	outcomeExisting  = "existingNode"
	outcomeLeftOut   = "unschedulable"
	outcomeNotAsked  = "notPlanned"
	maxListedMatches = 8
)

// explanation is what --explain answers.
type explanation struct {
	pod     string // namespace/name
	outcome string
	node    string
	why     string
	reasons []string

	newNode  *plan.NewNode
	existing *plan.ExistingNode
}

// explain finds a pod by namespace/name, or by a name that is in one namespace
// only, and says what became of it.
func explain(pods []cluster.Pod, r *plan.Report, pod string) (*explanation, error) {
	p, err := findPod(pods, pod)
	if err != nil {
		return nil, err
	}
	key := p.Key()
	for i := range r.NewNodes {
		n := &r.NewNodes[i]
		if at := placed(n.Pods, key); at >= 0 {
			return &explanation{pod: key, outcome: outcomeNew, node: n.Name, why: n.Pods[at].Why, newNode: n}, nil
		}
	}
	for i := range r.ExistingNodes {
		n := &r.ExistingNodes[i]
		if at := placed(n.Pods, key); at >= 0 {
			return &explanation{pod: key, outcome: outcomeExisting, node: n.Name, why: n.Pods[at].Why, existing: n}, nil
		}
	}
	for i := range r.Unschedulable {
		if l := &r.Unschedulable[i]; l.Pod == key {
			return &explanation{pod: key, outcome: outcomeLeftOut, reasons: l.Reasons}, nil
		}
	}
	return &explanation{pod: key, outcome: outcomeNotAsked, node: p.NodeName, reasons: []string{whyNotPlanned(p)}}, nil
}

func placed(pods []plan.Placement, key string) int {
	return slices.IndexFunc(pods, func(p plan.Placement) bool { return p.Pod == key })
}

// findPod finds the one pod that is meant: by its whole name, else by the
// beginning of one, since what stands behind it was made up by a controller.
func findPod(pods []cluster.Pod, name string) (*cluster.Pod, error) {
	var found, begin []*cluster.Pod
	for i := range pods {
		p := &pods[i]
		if p.Key() == name || p.Name == name {
			found = append(found, p)
		} else if name != "" && (strings.HasPrefix(p.Key(), name) || strings.HasPrefix(p.Name, name)) {
			begin = append(begin, p)
		}
	}
	if len(found) == 0 {
		found = begin
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, badInput("--explain %s: no such pod in the input%s", name, likeNames(pods, name))
	}
	keys := make([]string, len(found))
	for i, p := range found {
		keys[i] = p.Key()
	}
	slices.Sort(keys)
	return nil, badInput("--explain %s: %d pods are called so; write one of %s", name, len(keys), shortened(keys))
}

// likeNames lists pods whose names contain what was asked for.
func likeNames(pods []cluster.Pod, name string) string {
	_, short, ok := strings.Cut(name, "/")
	if !ok {
		short = name
	}
	var like []string
	for i := range pods {
		if strings.Contains(pods[i].Name, short) {
			like = append(like, pods[i].Key())
		}
	}
	if short == "" || len(like) == 0 {
		return "; write its namespace/name as kubectl prints them"
	}
	slices.Sort(like)
	return "; did you mean " + shortened(like) + "?"
}

func shortened(keys []string) string {
	if len(keys) <= maxListedMatches {
		return strings.Join(keys, ", ")
	}
	return fmt.Sprintf("%s, … (%d in all)", strings.Join(keys[:maxListedMatches], ", "), len(keys))
}

// whyNotPlanned says why a plan does not mention a pod.
func whyNotPlanned(p *cluster.Pod) string {
	switch {
	case p.NodeName != "":
		return fmt.Sprintf("it runs on node %s already", p.NodeName)
	case p.NominatedNodeName != "":
		return fmt.Sprintf("the scheduler is making room for it on node %s", p.NominatedNodeName)
	case p.Gated:
		return "it has scheduling gates: the scheduler does not look at it until they are removed"
	case p.Deleting:
		return "it is being deleted"
	case p.Phase == corev1.PodSucceeded || p.Phase == corev1.PodFailed:
		return "it has run to its end"
	case p.Owner.Kind == "DaemonSet" || p.Owner.Kind == "Node":
		return fmt.Sprintf("it belongs to a %s, which brings its pods to every node that there is: they are counted as the nodes' own", p.Owner.Kind)
	case !p.Unschedulable:
		return "the scheduler has not called it unschedulable (no condition PodScheduled=False with reason Unschedulable), so it may yet find a place by itself"
	}
	return "it opted out of being planned for"
}

// write writes an explanation for a person.
func (e *explanation) write(w io.Writer, l look) error {
	p := &page{look: l}
	switch e.outcome {
	case outcomeNew:
		n := e.newNode
		p.heading("%s goes to a new node, %s", e.pod, e.node)
		p.fact("node", fmt.Sprintf("%s in %s, %s, %s an hour%s", n.InstanceType, n.Zone, n.CapacityType, p.money(n.PricePerHour), estimated(n.Estimate)))
		p.fact("nodepool", n.NodePool)
		p.fact("choices", choices(len(n.InstanceTypes), len(n.Zones))+" may be launched with the same pods")
		p.fact("with", others(len(n.Pods)-1))
	case outcomeExisting:
		n := e.existing
		where := "a node that stands already"
		if n.InFlight {
			where = "a node that is on its way"
		}
		p.heading("%s goes to %s, %s", e.pod, where, e.node)
		p.fact("with", others(len(n.Pods)-1))
	case outcomeLeftOut:
		p.heading("%s", red.paint(e.pod+" is left out", l.colour))
		for _, reason := range e.reasons {
			p.wrapped(reason, "  - ", "    ")
		}
	default:
		p.heading("%s is not planned for", e.pod)
		for _, reason := range e.reasons {
			p.wrapped(reason, "  - ", "    ")
		}
	}
	if e.outcome == outcomeNew || e.outcome == outcomeExisting {
		why := e.why
		if why == "" {
			why = "nothing but the price chose the place"
		}
		p.fact("why", why)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

func (p *page) fact(label, text string) {
	p.WriteString(gap + dim.paint(fmt.Sprintf("%-10s", label), p.colour))
	p.wrapped(text, "", strings.Repeat(" ", 12))
}

func others(n int) string {
	if n == 0 {
		return "no other pod of this plan"
	}
	return count(n, "other pod") + " of this plan"
}

func estimated(estimate bool) string {
	if estimate {
		return " (an estimate)"
	}
	return ""
}

// document writes an explanation as JSON or YAML.
func (e *explanation) document(w documentWriter) error {
	w.value("apiVersion", apiVersion)
	w.value("kind", "Explanation")
	w.value("pod", e.pod)
	w.value("outcome", e.outcome)
	w.value("node", e.node)
	w.value("why", e.why)
	w.value("reasons", list(e.reasons))
	return w.close()
}
