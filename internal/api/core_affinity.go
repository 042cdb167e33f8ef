package api

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// affinity checks an affinity and gives its label keys their current names, in
// place. An affinity that says nothing becomes nil.
func (c *conversion) affinity(a *corev1.Affinity) *corev1.Affinity {
	if a == nil {
		return nil
	}
	defer c.back(c.in("affinity"))
	if a.NodeAffinity != nil {
		a.NodeAffinity = c.nodeAffinity(a.NodeAffinity)
	}
	if n := a.PodAffinity; n != nil {
		c.podTerms("podAffinity", n.RequiredDuringSchedulingIgnoredDuringExecution, n.PreferredDuringSchedulingIgnoredDuringExecution)
		if len(n.RequiredDuringSchedulingIgnoredDuringExecution)+len(n.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
			a.PodAffinity = nil
		}
	}
	if n := a.PodAntiAffinity; n != nil {
		c.podTerms("podAntiAffinity", n.RequiredDuringSchedulingIgnoredDuringExecution, n.PreferredDuringSchedulingIgnoredDuringExecution)
		if len(n.RequiredDuringSchedulingIgnoredDuringExecution)+len(n.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
			a.PodAntiAffinity = nil
		}
	}
	if a.NodeAffinity == nil && a.PodAffinity == nil && a.PodAntiAffinity == nil {
		return nil
	}
	return a
}

// The two lists that every kind of affinity has.
const (
	requiredTerms  = "requiredDuringSchedulingIgnoredDuringExecution"
	preferredTerms = "preferredDuringSchedulingIgnoredDuringExecution"
)

// nodeAffinity checks a node affinity. What it leaves has no matchFields and no
// empty terms: the first name a node, which a plan for new nodes cannot use,
// and the second match nothing.
func (c *conversion) nodeAffinity(a *corev1.NodeAffinity) *corev1.NodeAffinity {
	defer c.back(c.in("nodeAffinity"))
	if a.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		c.nodeTerms(a.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	kept := a.PreferredDuringSchedulingIgnoredDuringExecution[:0]
	for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		t := &a.PreferredDuringSchedulingIgnoredDuringExecution[i]
		back := c.at(preferredTerms, i)
		c.weight(t.Weight)
		c.in("preference")
		c.nodeTerm(&t.Preference)
		c.back(back)
		if len(t.Preference.MatchExpressions) > 0 && len(t.Preference.MatchFields) == 0 {
			kept = append(kept, *t)
		}
	}
	a.PreferredDuringSchedulingIgnoredDuringExecution = kept
	if a.RequiredDuringSchedulingIgnoredDuringExecution == nil && len(kept) == 0 {
		return nil
	}
	return a
}

// nodeTerms checks the terms of which one must hold.
func (c *conversion) nodeTerms(s *corev1.NodeSelector) {
	defer c.back(c.in(requiredTerms))
	if len(s.NodeSelectorTerms) == 0 {
		c.bad("nodeSelectorTerms", "needs at least one term")
		return
	}
	fields := false
	kept := s.NodeSelectorTerms[:0]
	for i := range s.NodeSelectorTerms {
		t := &s.NodeSelectorTerms[i]
		back := c.at("nodeSelectorTerms", i)
		c.nodeTerm(t)
		c.back(back)
		fields = fields || len(t.MatchFields) > 0
		if len(t.MatchFields) == 0 && len(t.MatchExpressions) > 0 {
			kept = append(kept, *t)
		}
	}
	s.NodeSelectorTerms = kept
	switch {
	case len(kept) > 0:
	case fields:
		c.problem("Its required node affinity uses matchFields, which ties it to a node by name; use matchExpressions on a label instead.")
	default:
		c.problem("Its required node affinity has only empty terms, which match no node; give a term matchExpressions, or remove the affinity.")
	}
}

// nodeTerm checks the expressions of one term.
func (c *conversion) nodeTerm(t *corev1.NodeSelectorTerm) {
	for i := range t.MatchExpressions {
		e := &t.MatchExpressions[i]
		back := c.at("matchExpressions", i)
		c.labelKey("key", e.Key)
		c.nodeOperator(e)
		c.back(back)
		e.Key = cluster.NormalLabel(e.Key)
	}
	for i := range t.MatchFields {
		back := c.at("matchFields", i)
		c.nodeOperator(&t.MatchFields[i])
		c.back(back)
	}
}

// nodeOperator checks that operator and values go together.
func (c *conversion) nodeOperator(e *corev1.NodeSelectorRequirement) {
	switch e.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		c.someValues(string(e.Operator), e.Values)
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		c.noValues(string(e.Operator), e.Values)
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(e.Values) != 1 {
			c.bad("values", "operator %s needs exactly one value, an integer", e.Operator)
			return
		}
		if _, err := strconv.ParseInt(e.Values[0], 10, 64); err != nil {
			c.problem("Its node affinity compares %s with %q by %s, which takes integers only; write an integer.", e.Key, e.Values[0], e.Operator)
		}
	default:
		c.bad("operator", "%q is not allowed; use In, NotIn, Exists, DoesNotExist, Gt or Lt", e.Operator)
	}
}

// weight checks the weight of a preference.
func (c *conversion) weight(w int32) {
	if w < 1 || w > 100 {
		c.bad("weight", "%d is not allowed; use 1 to 100", w)
	}
}

// podTerms checks the terms of a pod affinity or anti-affinity.
func (c *conversion) podTerms(field string, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
	defer c.back(c.in(field))
	for i := range required {
		back := c.at(requiredTerms, i)
		c.podTerm(&required[i])
		c.back(back)
	}
	for i := range preferred {
		back := c.at(preferredTerms, i)
		c.weight(preferred[i].Weight)
		c.in("podAffinityTerm")
		c.podTerm(&preferred[i].PodAffinityTerm)
		c.back(back)
	}
}

// podTerm checks one term.
func (c *conversion) podTerm(t *corev1.PodAffinityTerm) {
	t.TopologyKey = c.topologyKey(t.TopologyKey)
	c.labelSelector("labelSelector", t.LabelSelector)
	c.labelSelector("namespaceSelector", t.NamespaceSelector)
	for i, ns := range t.Namespaces {
		if !isDNSLabel(ns) {
			c.bad(index("namespaces", i), "%q is no name of a namespace", ns)
		}
	}
	c.matchKeys("matchLabelKeys", t.MatchLabelKeys, t.LabelSelector, metav1.LabelSelectorOpIn)
	c.matchKeys("mismatchLabelKeys", t.MismatchLabelKeys, t.LabelSelector, metav1.LabelSelectorOpNotIn)
	for i, k := range t.MismatchLabelKeys {
		if slices.Contains(t.MatchLabelKeys, k) {
			c.bad(index("mismatchLabelKeys", i), "%q stands in matchLabelKeys too; remove it from one of the two", k)
		}
	}
}

// topologyKey checks a topology key and returns its current name.
func (c *conversion) topologyKey(k string) string {
	if k == "" {
		c.bad("topologyKey", "names no label; write one of nodes, such as %s or %s", cluster.LabelZone, cluster.LabelHostname)
		return k
	}
	c.labelKey("topologyKey", k)
	return cluster.NormalLabel(k)
}

// completeAffinity puts the pod's own label values into the selectors whose
// terms take them, as the API server does. It changes nothing in place.
func completeAffinity(a *corev1.Affinity, labels map[string]string) *corev1.Affinity {
	if len(ownKeysOfAffinity(a)) == 0 {
		return a
	}
	out := *a
	if n := a.PodAffinity; n != nil {
		out.PodAffinity = &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  completeTerms(n.RequiredDuringSchedulingIgnoredDuringExecution, labels),
			PreferredDuringSchedulingIgnoredDuringExecution: completeWeighted(n.PreferredDuringSchedulingIgnoredDuringExecution, labels),
		}
	}
	if n := a.PodAntiAffinity; n != nil {
		out.PodAntiAffinity = &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution:  completeTerms(n.RequiredDuringSchedulingIgnoredDuringExecution, labels),
			PreferredDuringSchedulingIgnoredDuringExecution: completeWeighted(n.PreferredDuringSchedulingIgnoredDuringExecution, labels),
		}
	}
	return &out
}

func completeTerms(terms []corev1.PodAffinityTerm, labels map[string]string) []corev1.PodAffinityTerm {
	out := slices.Clone(terms)
	for i := range out {
		completeTerm(&out[i], labels)
	}
	return out
}

func completeWeighted(terms []corev1.WeightedPodAffinityTerm, labels map[string]string) []corev1.WeightedPodAffinityTerm {
	out := slices.Clone(terms)
	for i := range out {
		completeTerm(&out[i].PodAffinityTerm, labels)
	}
	return out
}

func completeTerm(t *corev1.PodAffinityTerm, labels map[string]string) {
	t.LabelSelector = withKeys(t.LabelSelector, t.MatchLabelKeys, metav1.LabelSelectorOpIn, labels)
	t.LabelSelector = withKeys(t.LabelSelector, t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn, labels)
	t.MatchLabelKeys, t.MismatchLabelKeys = nil, nil
}

// ownKeysOfAffinity lists the label keys whose values the selectors take from
// the pod itself.
func ownKeysOfAffinity(a *corev1.Affinity) []string {
	if a == nil {
		return nil
	}
	var out []string
	add := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			out = append(append(out, required[i].MatchLabelKeys...), required[i].MismatchLabelKeys...)
		}
		for i := range preferred {
			t := &preferred[i].PodAffinityTerm
			out = append(append(out, t.MatchLabelKeys...), t.MismatchLabelKeys...)
		}
	}
	if n := a.PodAffinity; n != nil {
		add(n.RequiredDuringSchedulingIgnoredDuringExecution, n.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if n := a.PodAntiAffinity; n != nil {
		add(n.RequiredDuringSchedulingIgnoredDuringExecution, n.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return out
}
