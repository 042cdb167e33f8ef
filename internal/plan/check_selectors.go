package plan

import (
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// selector says which nodes will do: all of some label values, and one of some
// terms. It stands for a pod's node selector and required node affinity, for
// where a volume can be reached, and for where a storage class makes volumes.
type selector struct {
	equal []labelPair
	terms []corev1.NodeSelectorTerm
	// anyTerm is false where there are no terms to satisfy.
	anyTerm bool
	keys    []string // that it looks at, as nodes carry them
	byOffer bool     // one of the keys differs among the offerings of a type
	byName  bool     // it looks at the name of the node
}

type labelPair struct{ key, value string }

// labelled is a node as selectors see it.
type labelled interface {
	label(key string) (string, bool)
	nodeName() string
}

func (s *selector) matches(n labelled) bool {
	for i := range s.equal {
		if v, ok := n.label(s.equal[i].key); !ok || v != s.equal[i].value {
			return false
		}
	}
	if !s.anyTerm {
		return true
	}
	for i := range s.terms {
		if termMatches(&s.terms[i], n) {
			return true
		}
	}
	return false
}

// termMatches ANDs the expressions of a term. A term without any matches no node.
func termMatches(t *corev1.NodeSelectorTerm, n labelled) bool {
	for i := range t.MatchExpressions {
		e := &t.MatchExpressions[i]
		if v, ok := n.label(e.Key); !satisfies(v, ok, string(e.Operator), e.Values) {
			return false
		}
	}
	for i := range t.MatchFields {
		e := &t.MatchFields[i]
		if e.Key != "metadata.name" || !satisfies(n.nodeName(), true, string(e.Operator), e.Values) {
			return false
		}
	}
	return len(t.MatchExpressions)+len(t.MatchFields) > 0
}

// satisfies applies one operator to a label's value; ok is false where the label
// is absent. Gt and Lt are the scheduler's, Gte and Lte NodePools have besides.
func satisfies(v string, ok bool, op string, values []string) bool {
	switch op {
	case "In":
		return ok && slices.Contains(values, v)
	case "NotIn":
		return !ok || !slices.Contains(values, v)
	case "Exists":
		return ok
	case "DoesNotExist":
		return !ok
	}
	if !ok || len(values) != 1 {
		return false
	}
	have, err1 := strconv.ParseInt(v, 10, 64)
	want, err2 := strconv.ParseInt(values[0], 10, 64)
	if err1 != nil || err2 != nil {
		return false
	}
	switch op {
	case "Gt":
		return have > want
	case "Lt":
		return have < want
	case "Gte":
		return have >= want
	case "Lte":
		return have <= want
	}
	return false
}

// everywhere is the selector that every node satisfies.
const everywhere = int32(0)

// selectorOf is the selector of a pod.
func (c *checker) selectorOf(p *cluster.Pod) int32 {
	required := requiredNodeAffinity(p)
	if len(p.NodeSelector) == 0 && required == nil {
		return everywhere
	}
	return c.selector(p.NodeSelector, required)
}

// selector numbers a selector; equal ones have one number.
func (c *checker) selector(equal map[string]string, required *corev1.NodeSelector) int32 {
	c.buf = appendLabels(c.buf[:0], equal)
	if required != nil {
		for i := range required.NodeSelectorTerms {
			c.buf = append(c.buf, '|')
			c.buf = appendExpressions(c.buf, required.NodeSelectorTerms[i].MatchExpressions)
			c.buf = append(c.buf, '@')
			c.buf = appendExpressions(c.buf, required.NodeSelectorTerms[i].MatchFields)
		}
		c.buf = append(c.buf, '!')
	}
	if id, ok := c.selectorIndex[string(c.buf)]; ok {
		return id
	}
	id := int32(len(c.selectors))
	c.selectorIndex[string(c.buf)] = id
	c.selectors = append(c.selectors, newSelector(equal, required))
	return id
}

func newSelector(equal map[string]string, required *corev1.NodeSelector) *selector {
	s := &selector{anyTerm: required != nil}
	note := func(key string) {
		key = nodeLabel(key)
		if !slices.Contains(s.keys, key) {
			s.keys = append(s.keys, key)
		}
		s.byOffer = s.byOffer || ofOffering(key)
		s.byName = s.byName || key == cluster.LabelHostname
	}
	for _, k := range slices.Sorted(maps.Keys(equal)) {
		s.equal = append(s.equal, labelPair{k, equal[k]})
		note(k)
	}
	if required == nil {
		return s
	}
	s.terms = required.NodeSelectorTerms
	for i := range s.terms {
		for k := range s.terms[i].MatchExpressions {
			note(s.terms[i].MatchExpressions[k].Key)
		}
		s.byName = s.byName || len(s.terms[i].MatchFields) > 0
	}
	return s
}

// appendLabels writes labels so that equal maps, and only they, read the same.
func appendLabels(b []byte, m map[string]string) []byte {
	switch len(m) {
	case 0:
		return b
	case 1:
		for k, v := range m {
			b = appendText(appendText(b, k), v)
		}
		return b
	}
	var few [8]string
	keys := few[:0]
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		b = appendText(appendText(b, k), m[k])
	}
	return b
}

func appendExpressions(b []byte, list []corev1.NodeSelectorRequirement) []byte {
	for i := range list {
		b = appendText(appendText(b, list[i].Key), string(list[i].Operator))
		for _, v := range list[i].Values {
			b = appendText(b, v)
		}
		b = append(b, ';')
	}
	return b
}

// appendText writes a text and an end that no label, key or name contains.
func appendText(b []byte, s string) []byte { return append(append(b, s...), 0) }

// untolerated is the first taint that keeps a pod off a node, nil for none.
func untolerated(taints []corev1.Taint, list []corev1.Toleration) *corev1.Taint {
	for i := range taints {
		if t := &taints[i]; t.Effect != corev1.TaintEffectPreferNoSchedule && !tolerated(t, list) {
			return t
		}
	}
	return nil
}

func tolerated(taint *corev1.Taint, list []corev1.Toleration) bool {
	for i := range list {
		t := &list[i]
		if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
			continue
		}
		switch t.Operator {
		case corev1.TolerationOpExists:
			return true
		case "", corev1.TolerationOpEqual:
			if t.Key != "" && t.Value == taint.Value {
				return true
			}
		}
	}
	return false
}
