package scheduling_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/scheduling"
)

// rule is a rule of scheduling, a problem in which it decides, and what is to be
// seen of the result.
type rule struct {
	name  string
	given *scheduling.Problem
	see   func(outcome) string
	want  string
}

func check(t *testing.T, rules []rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			if got := r.see(solve(t, r.given)); got != r.want {
				t.Errorf("got  %s\nwant %s", got, r.want)
			}
		})
	}
}

// outcome is a problem with its result.
type outcome struct {
	p *scheduling.Problem
	r *scheduling.Result
}

// solve solves a problem. It holds of every one that each pod is placed once or
// left out with a reason, and that the order of its lists does not matter.
func solve(t *testing.T, p *scheduling.Problem) outcome {
	t.Helper()
	r, err := scheduling.Solve(p)
	if err != nil {
		t.Fatal(err)
	}
	o := outcome{p, r}
	o.account(t)
	q := reversed(p)
	back, err := scheduling.Solve(q)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(o.lines(), outcome{q, back}.lines()); diff != "" {
		t.Errorf("the lists the other way round, and the plan is another (-got +reversed):\n%s", diff)
	}
	return o
}

func reversed(p *scheduling.Problem) *scheduling.Problem {
	q := *p
	q.Pods, q.Nodes, q.Pools, q.Namespaces = slices.Clone(p.Pods), slices.Clone(p.Nodes), slices.Clone(p.Pools), slices.Clone(p.Namespaces)
	slices.Reverse(q.Pods)
	slices.Reverse(q.Nodes)
	slices.Reverse(q.Pools)
	slices.Reverse(q.Namespaces)
	return &q
}

// account checks that each pod is somewhere, once.
func (o outcome) account(t *testing.T) {
	t.Helper()
	seen := make([]int, len(o.p.Pods))
	for _, n := range o.r.Nodes {
		for _, i := range n.Pods {
			seen[i]++
		}
	}
	for _, l := range o.r.Standing {
		for _, i := range l.Pods {
			seen[i]++
		}
	}
	for _, l := range o.r.Left {
		seen[l.Pod]++
		if len(l.Reasons) == 0 || slices.Contains(l.Reasons, "") {
			t.Errorf("%s is left out without a reason", o.p.Pods[l.Pod].Name)
		}
	}
	for i, n := range seen {
		if n != 1 {
			t.Errorf("%s is in the result %d times", o.p.Pods[i].Name, n)
		}
	}
}

// lines is the whole result, one line a node, in an order of its own.
func (o outcome) lines() []string {
	var out []string
	for i := range o.r.Nodes {
		n := &o.r.Nodes[i]
		out = append(out, fmt.Sprintf("new %s %s %v %v %v %v: %v", o.p.Pools[n.Pool].Spec.Name, cheapestOf(n), n.Types, n.Zones, n.CapacityTypes, n.Labels, o.names(n.Pods)))
	}
	for _, l := range o.r.Standing {
		out = append(out, fmt.Sprintf("%s: %v", o.p.Nodes[l.Node].Name, o.names(l.Pods)))
	}
	for _, l := range o.r.Left {
		out = append(out, fmt.Sprintf("left %s: %v", o.p.Pods[l.Pod].Name, l.Reasons))
	}
	slices.Sort(out)
	return out
}

func (o outcome) names(pods []int) []string {
	out := make([]string, len(pods))
	for i, p := range pods {
		out[i] = o.p.Pods[p].Name
	}
	slices.Sort(out)
	return out
}

func cheapestOf(n *scheduling.Node) string {
	c := n.Cheapest
	return c.Type.Name + "/" + c.Zone + "/" + c.CapacityType
}

// each calls f for every place with its pods, "-" being nowhere.
func (o outcome) each(new func(n *scheduling.Node) string, standing func(s *scheduling.Standing) string, f func(place string, pods []int)) {
	for i := range o.r.Nodes {
		f(new(&o.r.Nodes[i]), o.r.Nodes[i].Pods)
	}
	for _, l := range o.r.Standing {
		f(standing(&o.p.Nodes[l.Node]), l.Pods)
	}
	for _, l := range o.r.Left {
		f("-", []int{l.Pod})
	}
}

func standingName(s *scheduling.Standing) string { return s.Name }

// pairs writes pod:place, ordered by pod.
func (o outcome) pairs(new func(n *scheduling.Node) string, standing func(s *scheduling.Standing) string) string {
	var out []string
	o.each(new, standing, func(place string, pods []int) {
		for _, name := range o.names(pods) {
			out = append(out, name+":"+place)
		}
	})
	slices.Sort(out)
	return strings.Join(out, " ")
}

// where tells for each pod the standing node that took it, or "new", or "-".
func where(o outcome) string {
	return o.pairs(func(*scheduling.Node) string { return "new" }, standingName)
}

// choice tells for each pod the cheapest type/zone/capacity type of its node.
func choice(o outcome) string { return o.pairs(cheapestOf, standingName) }

// typed tells for each pod the cheapest type of its node.
func typed(o outcome) string {
	return o.pairs(func(n *scheduling.Node) string { return n.Cheapest.Type.Name }, standingName)
}

// pooled tells for each pod the NodePool of its node.
func pooled(o outcome) string {
	return o.pairs(func(n *scheduling.Node) string { return o.p.Pools[n.Pool].Spec.Name }, standingName)
}

// at tells for each pod the value that its node will have for a label; several
// with | between them where the launch may decide.
func at(key string) func(outcome) string {
	return func(o outcome) string {
		return o.pairs(func(n *scheduling.Node) string { return domain(n, key) }, func(s *scheduling.Standing) string { return s.Labels[key] })
	}
}

// domain is what a new node will have for a label.
func domain(n *scheduling.Node, key string) string {
	var all []string
	switch key {
	case zone:
		all = slices.Clone(n.Zones)
	case cluster.LabelZoneID:
		for _, z := range n.Zones {
			all = append(all, "id-"+z)
		}
	case paid:
		all = slices.Clone(n.CapacityTypes)
	case kind:
		all = slices.Clone(n.Types)
	default:
		all = []string{n.Labels[key]}
	}
	slices.Sort(all)
	return strings.Join(all, "|")
}

// counts tells how many pods each value of a label has, "-" being nowhere.
func counts(key string) func(outcome) string {
	return func(o outcome) string {
		n := o.tally(key)
		var out []string
		for _, v := range slices.Sorted(maps.Keys(n)) {
			out = append(out, fmt.Sprintf("%s:%d", v, n[v]))
		}
		return strings.Join(out, " ")
	}
}

func (o outcome) tally(key string) map[string]int {
	out := map[string]int{}
	o.each(func(n *scheduling.Node) string { return domain(n, key) }, func(s *scheduling.Standing) string { return s.Labels[key] },
		func(place string, pods []int) { out[place] += len(pods) })
	return out
}

// balance is counts without the names: largest first, and how many are left out.
func balance(key string) func(outcome) string {
	return func(o outcome) string {
		n := o.tally(key)
		left := n["-"]
		delete(n, "-")
		ns := slices.Sorted(maps.Values(n))
		slices.Reverse(ns)
		out := strings.Trim(fmt.Sprint(ns), "[]")
		if left > 0 {
			out += " left " + strconv.Itoa(left)
		}
		return out
	}
}

// together tells which pods share a node; those left out follow.
func together(o outcome) string {
	var out []string
	left := 0
	o.each(func(*scheduling.Node) string { return "" }, func(*scheduling.Standing) string { return "" }, func(place string, pods []int) {
		if place == "-" {
			left++
			return
		}
		out = append(out, fmt.Sprint(o.names(pods)))
	})
	slices.Sort(out)
	if left > 0 {
		out = append(out, "left "+strconv.Itoa(left))
	}
	return strings.Join(out, " ")
}

// loads tells how many pods each node takes, the most first.
func loads(o outcome) string {
	var ns []int
	left := 0
	o.each(func(*scheduling.Node) string { return "" }, standingName, func(place string, pods []int) {
		if place == "-" {
			left++
			return
		}
		ns = append(ns, len(pods))
	})
	slices.Sort(ns)
	slices.Reverse(ns)
	out := strings.Trim(fmt.Sprint(ns), "[]")
	if left > 0 {
		out += " left " + strconv.Itoa(left)
	}
	return out
}

// opened lists the cheapest types of the new nodes; how many pods are left out
// follows.
func opened(o outcome) string {
	n := map[string]int{}
	for i := range o.r.Nodes {
		n[o.r.Nodes[i].Cheapest.Type.Name]++
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(n)) {
		out = append(out, fmt.Sprintf("%d %s", n[k], k))
	}
	if len(o.r.Left) > 0 {
		out = append(out, fmt.Sprintf("left %d", len(o.r.Left)))
	}
	return strings.Join(out, ", ")
}

// listed is the types that each new node may be launched as.
func listed(o outcome) string {
	var out []string
	for i := range o.r.Nodes {
		types := slices.Clone(o.r.Nodes[i].Types)
		slices.Sort(types)
		out = append(out, fmt.Sprint(types))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// why is the first reason of each pod that is left out, or "placed".
func why(o outcome) string {
	if len(o.r.Left) == 0 {
		return "placed"
	}
	var out []string
	for _, l := range o.r.Left {
		out = append(out, l.Reasons[0])
	}
	return strings.Join(out, "; ")
}
