package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// matcher says which pods a topology rule is about: those with matching labels in
// some namespaces. Rules that are about the same pods share one.
type matcher struct {
	namespaces []string
	spaces     *cluster.Selector // nil: no namespace by its labels
	selector   *cluster.Selector
	hits       []int32 // pods that it matches, by their place in topology.pods
	daemons    []int   // DaemonSets whose pods it matches
}

// matches tells whether a matcher is about a pod.
func (t *topology) matches(m *matcher, namespace string, labels map[string]string) bool {
	if !cluster.Matches(m.selector, labels) {
		return false
	}
	return slices.Contains(m.namespaces, namespace) || m.spaces != nil && cluster.Matches(m.spaces, t.spaces[namespace])
}

// matcherOfSpread is about the pods of a namespace that a spread constraint
// counts.
func (t *topology) matcherOfSpread(p *cluster.Pod, s *corev1.TopologySpreadConstraint) int32 {
	return t.matcher(matcher{namespaces: []string{p.Namespace}, selector: withKeys(s.LabelSelector, p.Labels, s.MatchLabelKeys, nil)})
}

// matcherOfTerm is about the pods of an affinity term.
func (t *topology) matcherOfTerm(p *cluster.Pod, a *corev1.PodAffinityTerm) int32 {
	m := matcher{namespaces: a.Namespaces, spaces: a.NamespaceSelector, selector: withKeys(a.LabelSelector, p.Labels, a.MatchLabelKeys, a.MismatchLabelKeys)}
	if m.spaces == nil && len(m.namespaces) == 0 {
		m.namespaces = []string{p.Namespace}
	}
	return t.matcher(m)
}

// withKeys adds matchLabelKeys and mismatchLabelKeys to a selector, as the API
// server does when it admits a pod. To do it twice changes nothing.
func withKeys(s *cluster.Selector, own map[string]string, match, mismatch []string) *cluster.Selector {
	if s == nil || len(match)+len(mismatch) == 0 {
		return s
	}
	out := &cluster.Selector{MatchLabels: s.MatchLabels, MatchExpressions: slices.Clone(s.MatchExpressions)}
	add := func(keys []string, op metav1.LabelSelectorOperator) {
		for _, k := range keys {
			if v, ok := own[k]; ok {
				out.MatchExpressions = append(out.MatchExpressions, metav1.LabelSelectorRequirement{Key: k, Operator: op, Values: []string{v}})
			}
		}
	}
	add(match, metav1.LabelSelectorOpIn)
	add(mismatch, metav1.LabelSelectorOpNotIn)
	return out
}

// matcher numbers a matcher; equal ones have one number.
func (t *topology) matcher(m matcher) int32 {
	b := t.buf[:0]
	for _, n := range m.namespaces {
		b = appendText(b, n)
	}
	b = append(b, '/')
	b = appendSelector(b, m.spaces)
	b = append(b, '/')
	b = appendSelector(b, m.selector)
	t.buf = b
	if id, ok := t.matcherIndex[string(b)]; ok {
		return id
	}
	id := int32(len(t.matchers))
	t.matcherIndex[string(b)] = id
	t.matchers = append(t.matchers, &m)
	t.file(id, &m)
	return id
}

func appendSelector(b []byte, s *cluster.Selector) []byte {
	if s == nil {
		return append(b, '-')
	}
	b = appendLabels(b, s.MatchLabels)
	for i := range s.MatchExpressions {
		e := &s.MatchExpressions[i]
		b = append(b, '|')
		b = appendText(appendText(b, e.Key), string(e.Operator))
		for _, v := range e.Values {
			b = appendText(b, v)
		}
	}
	return b
}

// anchor is a label key that some matchers insist on, with the matchers by the
// value that they want. A pod is held only against those of its own values.
type anchor struct {
	key     string
	byValue map[string][]int32
}

// file puts a matcher where the pods that it can match will find it.
func (t *topology) file(id int32, m *matcher) {
	switch s := m.selector; {
	case s == nil: // it matches none
	case len(s.MatchLabels) > 0:
		key := ""
		for k := range s.MatchLabels {
			if key == "" || k < key {
				key = k
			}
		}
		t.anchor(key, s.MatchLabels[key], id)
	default:
		for i := range s.MatchExpressions {
			if e := &s.MatchExpressions[i]; e.Operator == metav1.LabelSelectorOpIn {
				values := slices.Clone(e.Values)
				slices.Sort(values)
				for _, v := range slices.Compact(values) {
					t.anchor(e.Key, v, id)
				}
				return
			}
		}
		t.adrift = append(t.adrift, id)
	}
}

func (t *topology) anchor(key, value string, id int32) {
	for i := range t.anchors {
		if a := &t.anchors[i]; a.key == key {
			a.byValue[value] = append(a.byValue[value], id)
			return
		}
	}
	t.anchors = append(t.anchors, anchor{key, map[string][]int32{value: {id}}})
}

// findHits finds the pods of every matcher.
func (t *topology) findHits() {
	for i := range t.pods {
		p := t.pods[i].pod
		t.eachMatcher(p.Namespace, p.Labels, func(m *matcher) { m.hits = append(m.hits, int32(i)) })
	}
}

// eachMatcher visits the matchers that are about a pod.
func (t *topology) eachMatcher(namespace string, labels map[string]string, f func(*matcher)) {
	try := func(ids []int32) {
		for _, id := range ids {
			if m := t.matchers[id]; t.matches(m, namespace, labels) {
				f(m)
			}
		}
	}
	for i := range t.anchors {
		if v, ok := labels[t.anchors[i].key]; ok {
			try(t.anchors[i].byValue[v])
		}
	}
	try(t.adrift)
}
