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
func (c *podConversion) affinity(a *corev1.Affinity, p *corePath) *corev1.Affinity {
	if a == nil {
		return nil
	}
	if a.NodeAffinity != nil {
		at := p.field("nodeAffinity")
		a.NodeAffinity = c.nodeAffinity(a.NodeAffinity, &at)
	}
	if n := a.PodAffinity; n != nil {
		at := p.field("podAffinity")
		c.podTerms(n.RequiredDuringSchedulingIgnoredDuringExecution, n.PreferredDuringSchedulingIgnoredDuringExecution, &at)
		if len(n.RequiredDuringSchedulingIgnoredDuringExecution)+len(n.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
			a.PodAffinity = nil
		}
	}
	if n := a.PodAntiAffinity; n != nil {
		at := p.field("podAntiAffinity")
		c.podTerms(n.RequiredDuringSchedulingIgnoredDuringExecution, n.PreferredDuringSchedulingIgnoredDuringExecution, &at)
		if len(n.RequiredDuringSchedulingIgnoredDuringExecution)+len(n.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
			a.PodAntiAffinity = nil
		}
	}
	if a.NodeAffinity == nil && a.PodAffinity == nil && a.PodAntiAffinity == nil {
		return nil
	}
	return a
}

// nodeAffinity checks a node affinity. What it leaves has no matchFields and no
// empty terms: the first name a node, which a plan for new nodes cannot use,
// and the second match nothing.
func (c *podConversion) nodeAffinity(a *corev1.NodeAffinity, p *corePath) *corev1.NodeAffinity {
	if a.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		at := p.field("requiredDuringSchedulingIgnoredDuringExecution")
		at = at.field("nodeSelectorTerms")
		c.requiredTerms(a.RequiredDuringSchedulingIgnoredDuringExecution, &at)
	}
	list := p.field("preferredDuringSchedulingIgnoredDuringExecution")
	kept := a.PreferredDuringSchedulingIgnoredDuringExecution[:0]
	for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
		t, at := &a.PreferredDuringSchedulingIgnoredDuringExecution[i], list.at(i)
		c.weight(t.Weight, &at)
		at = at.field("preference")
		c.nodeTerm(&t.Preference, &at)
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

// requiredTerms checks the terms of which one must hold.
func (c *podConversion) requiredTerms(s *corev1.NodeSelector, p *corePath) {
	if len(s.NodeSelectorTerms) == 0 {
		c.bad(p, "needs at least one term")
		return
	}
	fields := false
	kept := s.NodeSelectorTerms[:0]
	for i := range s.NodeSelectorTerms {
		t, at := &s.NodeSelectorTerms[i], p.at(i)
		c.nodeTerm(t, &at)
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
func (c *podConversion) nodeTerm(t *corev1.NodeSelectorTerm, p *corePath) {
	list := p.field("matchExpressions")
	for i := range t.MatchExpressions {
		e, at := &t.MatchExpressions[i], list.at(i)
		if problem := labelKeyProblem(e.Key); problem != "" {
			at := at.field("key")
			c.bad(&at, "the label key %q %s", e.Key, problem)
		}
		c.nodeOperator(e, &at)
		e.Key = cluster.NormalLabel(e.Key)
	}
	list = p.field("matchFields")
	for i := range t.MatchFields {
		at := list.at(i)
		c.nodeOperator(&t.MatchFields[i], &at)
	}
}

// nodeOperator checks that operator and values go together.
func (c *podConversion) nodeOperator(e *corev1.NodeSelectorRequirement, p *corePath) {
	at := p.field("values")
	switch e.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		if len(e.Values) == 0 {
			c.bad(&at, "operator %s needs at least one value", e.Operator)
		}
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(e.Values) > 0 {
			c.bad(&at, "operator %s takes no values", e.Operator)
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
		if len(e.Values) != 1 {
			c.bad(&at, "operator %s needs exactly one value, an integer", e.Operator)
			return
		}
		if _, err := strconv.ParseInt(e.Values[0], 10, 64); err != nil {
			c.problem("Its node affinity compares %s with %q by %s, which takes integers only; write an integer.", e.Key, e.Values[0], e.Operator)
		}
	default:
		at := p.field("operator")
		c.bad(&at, "%q is not allowed; use In, NotIn, Exists, DoesNotExist, Gt or Lt", e.Operator)
	}
}

// weight checks the weight of a preference.
func (c *podConversion) weight(w int32, p *corePath) {
	if w < 1 || w > 100 {
		at := p.field("weight")
		c.bad(&at, "%d is not allowed; use 1 to 100", w)
	}
}

// podTerms checks the terms of a pod affinity or anti-affinity.
func (c *podConversion) podTerms(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm, p *corePath) {
	list := p.field("requiredDuringSchedulingIgnoredDuringExecution")
	for i := range required {
		at := list.at(i)
		c.podTerm(&required[i], &at)
	}
	list = p.field("preferredDuringSchedulingIgnoredDuringExecution")
	for i := range preferred {
		at := list.at(i)
		c.weight(preferred[i].Weight, &at)
		at = at.field("podAffinityTerm")
		c.podTerm(&preferred[i].PodAffinityTerm, &at)
	}
}

// podTerm checks one term.
func (c *podConversion) podTerm(t *corev1.PodAffinityTerm, p *corePath) {
	c.topologyKey(&t.TopologyKey, p)
	at := p.field("labelSelector")
	c.labelSelector(t.LabelSelector, &at)
	at = p.field("namespaceSelector")
	c.labelSelector(t.NamespaceSelector, &at)
	list := p.field("namespaces")
	for i, ns := range t.Namespaces {
		if !isSubdomain(ns) {
			at := list.at(i)
			c.bad(&at, "%q is no name of a namespace", ns)
		}
	}
	at = p.field("matchLabelKeys")
	c.matchKeys(t.MatchLabelKeys, t.LabelSelector, metav1.LabelSelectorOpIn, &at)
	at = p.field("mismatchLabelKeys")
	c.matchKeys(t.MismatchLabelKeys, t.LabelSelector, metav1.LabelSelectorOpNotIn, &at)
	for i, k := range t.MismatchLabelKeys {
		if slices.Contains(t.MatchLabelKeys, k) {
			at := at.at(i)
			c.bad(&at, "%q stands in matchLabelKeys too; remove it from one of the two", k)
		}
	}
}

// topologyKey checks a topology key and gives it its current name.
func (c *podConversion) topologyKey(k *string, p *corePath) {
	at := p.field("topologyKey")
	if *k == "" {
		c.bad(&at, "names no label; write one of nodes, such as %s or %s", cluster.LabelZone, cluster.LabelHostname)
		return
	}
	if problem := labelKeyProblem(*k); problem != "" {
		c.bad(&at, "the label key %q %s", *k, problem)
	}
	*k = cluster.NormalLabel(*k)
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
