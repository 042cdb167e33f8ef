package naive

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// rules are a pod's hard topology rules with their selectors made ready.
type rules struct {
	spread         []spread
	affinity, anti []term
}

type spread struct {
	key                  string
	maxSkew, minDomains  int
	selector             labels.Selector
	affinityHonored      bool
	taintsHonored        bool
	countsItself, broken bool
}

type term struct {
	key        string
	selector   labels.Selector
	namespaces []string
	spaces     labels.Selector // nil: no namespace by its labels
}

// rulesOf parses a pod's rules once.
func (c *checker) rulesOf(p *cluster.Pod) *rules {
	if r := c.rules[p]; r != nil {
		return r
	}
	r := &rules{}
	for i := range p.Spread {
		s := &p.Spread[i]
		if s.WhenUnsatisfiable != corev1.DoNotSchedule {
			continue
		}
		sel, err := metav1.LabelSelectorAsSelector(withKeys(s.LabelSelector, p.Labels, s.MatchLabelKeys, nil))
		out := spread{key: cluster.NormalLabel(s.TopologyKey), maxSkew: int(s.MaxSkew), minDomains: 1, selector: sel, affinityHonored: true, broken: err != nil}
		if s.MinDomains != nil {
			out.minDomains = int(*s.MinDomains)
		}
		if s.NodeAffinityPolicy != nil {
			out.affinityHonored = *s.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor
		}
		if s.NodeTaintsPolicy != nil {
			out.taintsHonored = *s.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
		}
		out.countsItself = err == nil && sel.Matches(labels.Set(p.Labels))
		r.spread = append(r.spread, out)
	}
	if p.Affinity != nil && p.Affinity.PodAffinity != nil {
		r.affinity = termsOf(p, p.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	if p.Affinity != nil && p.Affinity.PodAntiAffinity != nil {
		r.anti = termsOf(p, p.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	c.rules[p] = r
	return r
}

func termsOf(p *cluster.Pod, in []corev1.PodAffinityTerm) []term {
	var out []term
	for i := range in {
		t := &in[i]
		sel, err := metav1.LabelSelectorAsSelector(withKeys(t.LabelSelector, p.Labels, t.MatchLabelKeys, t.MismatchLabelKeys))
		if err != nil {
			sel = labels.Nothing()
		}
		x := term{key: cluster.NormalLabel(t.TopologyKey), selector: sel, namespaces: t.Namespaces}
		if t.NamespaceSelector != nil {
			if x.spaces, err = metav1.LabelSelectorAsSelector(t.NamespaceSelector); err != nil {
				x.spaces = labels.Nothing()
			}
		} else if len(t.Namespaces) == 0 {
			x.namespaces = []string{p.Namespace}
		}
		out = append(out, x)
	}
	return out
}

// withKeys merges matchLabelKeys and mismatchLabelKeys into a selector as the
// API server does when it admits a pod. Doing it twice changes nothing.
func withKeys(s *metav1.LabelSelector, own map[string]string, match, mismatch []string) *metav1.LabelSelector {
	if s == nil {
		return nil
	}
	out := s.DeepCopy()
	for _, k := range match {
		if v, ok := own[k]; ok {
			out.MatchExpressions = append(out.MatchExpressions, metav1.LabelSelectorRequirement{Key: k, Operator: metav1.LabelSelectorOpIn, Values: []string{v}})
		}
	}
	for _, k := range mismatch {
		if v, ok := own[k]; ok {
			out.MatchExpressions = append(out.MatchExpressions, metav1.LabelSelectorRequirement{Key: k, Operator: metav1.LabelSelectorOpNotIn, Values: []string{v}})
		}
	}
	return out
}

// matches tells whether a term is about a pod: its namespace and its labels.
func (c *checker) matches(t term, q *cluster.Pod) bool {
	if !t.selector.Matches(labels.Set(q.Labels)) {
		return false
	}
	if slices.Contains(t.namespaces, q.Namespace) {
		return true
	}
	return t.spaces != nil && t.spaces.Matches(labels.Set(c.spaces[q.Namespace]))
}

func (c *checker) matchesAll(ts []term, q *cluster.Pod) bool {
	return !slices.ContainsFunc(ts, func(t term) bool { return !c.matches(t, q) })
}

// topologyRefusals says which topology rules keep a pod off a node, with every
// other pod where it is in the world.
func (c *checker) topologyRefusals(w *world, p *cluster.Pod, n *node) []string {
	var out []string
	r := c.rulesOf(p)
	for _, s := range r.spread {
		if why := spreadRefusal(w, p, n, s, r.spread, nil); why != "" {
			out = append(out, why)
		}
	}
	if !c.affinityHolds(w, p, n, r.affinity) {
		out = append(out, "required pod affinity is not satisfied")
	}
	for _, t := range r.anti {
		if v, ok := label(n.labels, t.key); ok {
			if q := c.findIn(w, t.key, v, p, func(q *cluster.Pod) bool { return c.matches(t, q) }); q != nil {
				out = append(out, fmt.Sprintf("anti-affinity over %s against %s", t.key, q.Key()))
			}
		}
	}
	return append(out, c.refusedByOthers(w, p, n)...)
}

// refusedByOthers applies the anti-affinity that other pods have against p.
func (c *checker) refusedByOthers(w *world, p *cluster.Pod, n *node) []string {
	var out []string
	for _, m := range w.nodes {
		for _, q := range m.pods {
			if q == p {
				continue
			}
			for _, t := range c.rulesOf(q).anti {
				a, ok1 := label(m.labels, t.key)
				b, ok2 := label(n.labels, t.key)
				if ok1 && ok2 && a == b && c.matches(t, p) {
					out = append(out, fmt.Sprintf("%s has anti-affinity over %s against it", q.Key(), t.key))
				}
			}
		}
	}
	return out
}

// findIn finds a pod other than p in one domain of a key.
func (c *checker) findIn(w *world, key, value string, p *cluster.Pod, f func(*cluster.Pod) bool) *cluster.Pod {
	for _, m := range w.nodes {
		if v, ok := label(m.labels, key); !ok || v != value {
			continue
		}
		for _, q := range m.pods {
			if q != p && f(q) {
				return q
			}
		}
	}
	return nil
}

// affinityHolds: in the node's domain of each term stands a pod that matches
// all of the terms; or no such pod is anywhere and the pod matches its own.
func (c *checker) affinityHolds(w *world, p *cluster.Pod, n *node, ts []term) bool {
	if len(ts) == 0 {
		return true
	}
	all := true
	for _, t := range ts {
		v, ok := label(n.labels, t.key)
		if !ok {
			return false
		}
		if c.findIn(w, t.key, v, p, func(q *cluster.Pod) bool { return c.matchesAll(ts, q) }) == nil {
			all = false
		}
	}
	if all {
		return true
	}
	for _, t := range ts {
		for _, m := range w.nodes {
			if v, ok := label(m.labels, t.key); ok && c.findIn(w, t.key, v, p, func(q *cluster.Pod) bool { return c.matchesAll(ts, q) }) != nil {
				return false
			}
		}
	}
	return c.matchesAll(ts, p)
}

// spreadRefusal applies one hard spread constraint: what is in the domain and
// the pod itself may not pass the emptiest domain by more than maxSkew. Domains
// are those of the nodes that the policies let in and that have every key of
// the pod's constraints, and besides those of extra, which are empty.
func spreadRefusal(w *world, p *cluster.Pod, n *node, s spread, all []spread, extra []string) string {
	here, ok := label(n.labels, s.key)
	if !ok {
		return "the node has no label " + s.key + " to spread over"
	}
	if s.broken {
		return "the selector of the spread over " + s.key + " is not valid"
	}
	counts := map[string]int{}
	for _, v := range extra {
		counts[v] = 0
	}
	for _, m := range w.nodes {
		if !counted(p, m, s, all) {
			continue
		}
		v, _ := label(m.labels, s.key)
		counts[v] += 0
		for _, q := range m.pods {
			if q != p && !q.Deleting && q.Namespace == p.Namespace && s.selector.Matches(labels.Set(q.Labels)) {
				counts[v]++
			}
		}
	}
	least := math.MaxInt32
	for _, k := range counts {
		least = min(least, k)
	}
	if len(counts) < s.minDomains {
		least = 0
	}
	mine := counts[here]
	if s.countsItself {
		mine++
	}
	if mine-least > s.maxSkew {
		return fmt.Sprintf("spread over %s: %d in %s, %d in the emptiest of %d domains, maxSkew %d", s.key, mine, here, least, len(counts), s.maxSkew)
	}
	return ""
}

// counted tells whether a node's domain is one of a constraint's.
func counted(p *cluster.Pod, m *node, s spread, all []spread) bool {
	for _, o := range all {
		if _, ok := label(m.labels, o.key); !ok {
			return false
		}
	}
	if s.affinityHonored && !selects(p, m.labels) {
		return false
	}
	if s.taintsHonored {
		for _, t := range m.taints {
			if t.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(p.Tolerations, t) {
				return false
			}
		}
	}
	return true
}
