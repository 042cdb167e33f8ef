package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"
)

func TestMatchKeysAreMerged(t *testing.T) {
	// The pod of podYAML carries app: web and tier: front.
	const key = "topologyKey: zone, "
	in := func(k, v string) metav1.LabelSelectorRequirement {
		return metav1.LabelSelectorRequirement{Key: k, Operator: "In", Values: []string{v}}
	}
	notIn := func(k, v string) metav1.LabelSelectorRequirement {
		return metav1.LabelSelectorRequirement{Key: k, Operator: "NotIn", Values: []string{v}}
	}
	cases := []struct {
		name, term string
		want       []metav1.LabelSelectorRequirement
	}{
		{"none", key + "labelSelector: {}", nil},
		{"a key of the pod", key + "labelSelector: {}, matchLabelKeys: [app]", []metav1.LabelSelectorRequirement{in("app", "web")}},
		{"a key that the pod lacks", key + "labelSelector: {}, matchLabelKeys: [nobody]", nil},
		{"two keys", key + "labelSelector: {}, matchLabelKeys: [tier, app]", []metav1.LabelSelectorRequirement{in("tier", "front"), in("app", "web")}},
		{"merged by the server before", key + "labelSelector: {matchExpressions: [{key: app, operator: In, values: [web]}]}, matchLabelKeys: [app]",
			[]metav1.LabelSelectorRequirement{in("app", "web")}},
		{"merged before with a label of then", key + "labelSelector: {matchExpressions: [{key: app, operator: In, values: [old]}]}, matchLabelKeys: [app]",
			[]metav1.LabelSelectorRequirement{in("app", "old")}},
		{"a mismatch", key + "labelSelector: {}, matchLabelKeys: [tier], mismatchLabelKeys: [app]",
			[]metav1.LabelSelectorRequirement{in("tier", "front"), notIn("app", "web")}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			spec := oneContainer + "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{" + c.term + "}], " +
				"preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {" + c.term + "}}]}}\n"
			if !strings.Contains(c.term, "mismatch") {
				spec += "topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, " + c.term + "}]\n"
			}
			p := onlyPod(t, mustReadCore(t, podYAML("p", spec)))
			required := p.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
			preferred := p.Affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].PodAffinityTerm
			if diff := cmp.Diff(c.want, required.LabelSelector.MatchExpressions); diff != "" {
				t.Errorf("required (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.want, preferred.LabelSelector.MatchExpressions); diff != "" {
				t.Errorf("preferred (-want +got):\n%s", diff)
			}
			if len(required.MatchLabelKeys)+len(required.MismatchLabelKeys)+len(preferred.MatchLabelKeys) > 0 {
				t.Errorf("the keys are still there after they were merged")
			}
			for _, s := range p.Spread {
				if diff := cmp.Diff(c.want, s.LabelSelector.MatchExpressions); diff != "" {
					t.Errorf("spread (-want +got):\n%s", diff)
				}
				if len(s.MatchLabelKeys) > 0 {
					t.Errorf("the keys of the spread are still there after they were merged")
				}
			}
		})
	}
}

func TestWithKeysLeavesTheSelectorAlone(t *testing.T) {
	s := &metav1.LabelSelector{MatchExpressions: make([]metav1.LabelSelectorRequirement, 1, 4)}
	s.MatchExpressions[0] = metav1.LabelSelectorRequirement{Key: "x", Operator: metav1.LabelSelectorOpExists}
	a := withKeys(s, []string{"app"}, metav1.LabelSelectorOpIn, map[string]string{"app": "a"})
	b := withKeys(s, []string{"app"}, metav1.LabelSelectorOpIn, map[string]string{"app": "b"})
	if a.MatchExpressions[1].Values[0] != "a" || b.MatchExpressions[1].Values[0] != "b" || len(s.MatchExpressions) != 1 {
		t.Errorf("pods of one template write into each other's selectors: %v %v %v", a, b, s)
	}
}

// The syntax of labels is checked here without the regular expressions of the
// Kubernetes libraries, which are too slow for a hundred thousand pods; the two
// must agree.
func TestLabelSyntaxIsKubernetes(t *testing.T) {
	letters := rapid.StringMatching(`[aA0._/-]{0,6}|[a-z0-9.-]{0,8}/[A-Za-z0-9._-]{0,8}|.{0,5}|[a-z]{60,66}|([a-z]{60}\.){4}[a-z]{5,12}/x`)
	rapid.Check(t, func(t *rapid.T) {
		s := letters.Draw(t, "text")
		if got, want := labelKeyProblem(s) == "", len(validation.IsQualifiedName(s)) == 0; got != want {
			t.Errorf("key %q: allowed here %v, by Kubernetes %v", s, got, want)
		}
		if got, want := labelValueProblem(s) == "", len(validation.IsValidLabelValue(s)) == 0; got != want {
			t.Errorf("value %q: allowed here %v, by Kubernetes %v", s, got, want)
		}
		if got, want := isSubdomain(s), len(validation.IsDNS1123Subdomain(s)) == 0; got != want {
			t.Errorf("name %q: allowed here %v, by Kubernetes %v", s, got, want)
		}
	})
}
