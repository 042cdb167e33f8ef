package api

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// labelsAreValid is the quick answer for the many labels that are plainly well
// formed; false means that a closer look is due.
func labelsAreValid(labels map[string]string) bool {
	for k, v := range labels {
		if labelKeyProblem(k) != "" || labelValueProblem(v) != "" {
			return false
		}
	}
	return true
}

// labelKeyProblem says what is wrong with the syntax of a label key, "" when
// nothing is.
func labelKeyProblem(k string) string {
	domain, name := "", k
	for i := range len(k) {
		if k[i] == '/' {
			domain, name = k[:i], k[i+1:]
			if !isSubdomain(domain) {
				return "has a domain that is none: the part before the / is lower case letters, digits, '-' and '.'"
			}
			break
		}
	}
	if name == "" || len(name) > 63 || !isLabelText(name) {
		return "must be up to 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends, after an optional domain and /"
	}
	return ""
}

// labelValueProblem says what is wrong with a label value, "" when nothing is.
func labelValueProblem(v string) string {
	if v == "" || len(v) <= 63 && isLabelText(v) {
		return ""
	}
	return "must be up to 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends"
}

// isLabelText tells whether s is made of what names in labels are made of.
func isLabelText(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '-' || c == '_' || c == '.':
			if i == 0 || i == len(s)-1 {
				return false
			}
		default:
			return false
		}
	}
	return s != ""
}

// isSubdomain tells whether s is a DNS subdomain, as names of objects are.
func isSubdomain(s string) bool {
	if len(s) > 253 {
		return false
	}
	for part := range strings.SplitSeq(s, ".") {
		if !isDNSLabel(part) {
			return false
		}
	}
	return true
}

// isDNSLabel tells whether s is one part of a DNS name.
func isDNSLabel(s string) bool {
	for i := range len(s) {
		c := s[i]
		ok := c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' && i > 0 && i < len(s)-1
		if !ok {
			return false
		}
	}
	return s != ""
}

// labelSelector checks the label selector in a field.
func (c *conversion) labelSelector(field string, s *metav1.LabelSelector) {
	if s == nil {
		return
	}
	defer c.back(c.in(field))
	c.checkLabels("matchLabels", s.MatchLabels)
	for i := range s.MatchExpressions {
		e := &s.MatchExpressions[i]
		back := c.at("matchExpressions", i)
		c.labelKey("key", e.Key)
		switch e.Operator {
		case metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn:
			c.someValues(string(e.Operator), e.Values)
		case metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist:
			c.noValues(string(e.Operator), e.Values)
		default:
			c.bad("operator", "%q is not allowed; use In, NotIn, Exists or DoesNotExist", e.Operator)
		}
		for j, v := range e.Values {
			if problem := labelValueProblem(v); problem != "" {
				c.bad(index("values", j), "the label value %q %s", v, problem)
			}
		}
		c.back(back)
	}
}

// labelKey checks the syntax of the label key in a field.
func (c *conversion) labelKey(field, k string) {
	if problem := labelKeyProblem(k); problem != "" {
		c.bad(field, "the label key %q %s", k, problem)
	}
}

func (c *conversion) someValues(operator string, values []string) {
	if len(values) == 0 {
		c.bad("values", "operator %s needs at least one value", operator)
	}
}

func (c *conversion) noValues(operator string, values []string) {
	if len(values) > 0 {
		c.bad("values", "operator %s takes no values", operator)
	}
}

// matchKeys checks the label keys whose values a selector takes from the pod
// itself. A server of 1.34 and later prints the selector with those values
// already in it, which is no contradiction.
func (c *conversion) matchKeys(field string, keys []string, s *metav1.LabelSelector, op metav1.LabelSelectorOperator) {
	if len(keys) > 0 && s == nil {
		c.bad(field, "needs a labelSelector beside it")
		return
	}
	for i, k := range keys {
		c.labelKey(index(field, i), k)
		_, fixed := s.MatchLabels[k]
		for j := range s.MatchExpressions {
			e := &s.MatchExpressions[j]
			fixed = fixed || e.Key == k && (e.Operator != op || len(e.Values) != 1)
		}
		if fixed {
			c.bad(index(field, i), "%q stands in the labelSelector too; remove it from one of the two", k)
		}
	}
}

// withKeys returns the selector with the pod's own values of some label keys in
// it. Keys that the pod does not carry, and those that are in it already, add
// nothing. The selector itself stays as it is: pods share it.
func withKeys(s *metav1.LabelSelector, keys []string, op metav1.LabelSelectorOperator, labels map[string]string) *metav1.LabelSelector {
	if s == nil {
		return nil
	}
	var more []metav1.LabelSelectorRequirement
	for _, k := range keys {
		v, ok := labels[k]
		if !ok || slices.ContainsFunc(s.MatchExpressions, func(e metav1.LabelSelectorRequirement) bool {
			return e.Key == k && e.Operator == op
		}) {
			continue
		}
		more = append(more, metav1.LabelSelectorRequirement{Key: k, Operator: op, Values: []string{v}})
	}
	if len(more) == 0 {
		return s
	}
	return &metav1.LabelSelector{
		MatchLabels:      s.MatchLabels,
		MatchExpressions: append(slices.Clip(slices.Clone(s.MatchExpressions)), more...),
	}
}
