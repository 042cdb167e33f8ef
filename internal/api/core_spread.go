package api

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// spread checks topology spread constraints and gives their keys their current
// names, in place.
func (c *conversion) spread(list []corev1.TopologySpreadConstraint) []corev1.TopologySpreadConstraint {
	for i := range list {
		back := c.at("topologySpreadConstraints", i)
		c.spreadConstraint(&list[i])
		for j := range list[:i] {
			if list[j].TopologyKey == list[i].TopologyKey && list[j].WhenUnsatisfiable == list[i].WhenUnsatisfiable {
				c.bad("", "repeats the topologyKey %s with whenUnsatisfiable %s; keep one of the two", list[i].TopologyKey, list[i].WhenUnsatisfiable)
				break
			}
		}
		c.back(back)
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// spreadConstraint checks one constraint.
func (c *conversion) spreadConstraint(t *corev1.TopologySpreadConstraint) {
	if t.MaxSkew < 1 {
		c.bad("maxSkew", "%d is not allowed; use 1 or more", t.MaxSkew)
	}
	t.TopologyKey = c.topologyKey(t.TopologyKey)
	switch t.WhenUnsatisfiable {
	case corev1.DoNotSchedule, corev1.ScheduleAnyway:
	default:
		c.bad("whenUnsatisfiable", "%q is not allowed; use DoNotSchedule or ScheduleAnyway", t.WhenUnsatisfiable)
	}
	if t.MinDomains != nil {
		if *t.MinDomains < 1 {
			c.bad("minDomains", "%d is not allowed; use 1 or more", *t.MinDomains)
		}
		if t.WhenUnsatisfiable == corev1.ScheduleAnyway {
			c.bad("minDomains", "is only allowed with whenUnsatisfiable DoNotSchedule; remove it")
		}
	}
	c.inclusionPolicy("nodeAffinityPolicy", t.NodeAffinityPolicy)
	c.inclusionPolicy("nodeTaintsPolicy", t.NodeTaintsPolicy)
	c.labelSelector("labelSelector", t.LabelSelector)
	c.matchKeys("matchLabelKeys", t.MatchLabelKeys, t.LabelSelector, metav1.LabelSelectorOpIn)
}

// inclusionPolicy checks which nodes a constraint counts.
func (c *conversion) inclusionPolicy(field string, v *corev1.NodeInclusionPolicy) {
	if v != nil && *v != corev1.NodeInclusionPolicyHonor && *v != corev1.NodeInclusionPolicyIgnore {
		c.bad(field, "%q is not allowed; use Honor or Ignore", *v)
	}
}

// completeSpread puts the pod's own label values into the selectors of
// constraints that take them, as the API server does. It changes nothing in
// place.
func completeSpread(list []corev1.TopologySpreadConstraint, labels map[string]string) []corev1.TopologySpreadConstraint {
	if len(ownKeysOfSpread(list)) == 0 {
		return list
	}
	out := slices.Clone(list)
	for i := range out {
		out[i].LabelSelector = withKeys(out[i].LabelSelector, out[i].MatchLabelKeys, metav1.LabelSelectorOpIn, labels)
		out[i].MatchLabelKeys = nil
	}
	return out
}

// ownKeysOfSpread lists the label keys whose values the selectors take from the
// pod itself.
func ownKeysOfSpread(list []corev1.TopologySpreadConstraint) []string {
	var out []string
	for i := range list {
		out = append(out, list[i].MatchLabelKeys...)
	}
	return out
}

// tolerations checks tolerations.
func (c *conversion) tolerations(list []corev1.Toleration) []corev1.Toleration {
	for i := range list {
		back := c.at("tolerations", i)
		c.toleration(&list[i])
		c.back(back)
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// toleration checks one toleration.
func (c *conversion) toleration(t *corev1.Toleration) {
	if t.Key != "" {
		c.labelKey("key", t.Key)
	}
	switch t.Operator {
	case corev1.TolerationOpExists:
		if t.Value != "" {
			c.bad("value", "operator Exists takes no value; remove it, or use Equal")
		}
	case "", corev1.TolerationOpEqual, corev1.TolerationOpLt, corev1.TolerationOpGt:
		if t.Key == "" {
			c.bad("operator", "must be Exists where no key is given, which tolerates every taint")
		}
	default:
		c.bad("operator", "%q is not allowed; use Exists or Equal", t.Operator)
	}
	switch t.Effect {
	case "", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
	default:
		c.bad("effect", "%q is not allowed; use NoSchedule, PreferNoSchedule or NoExecute, or leave it out for all", t.Effect)
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		c.bad("effect", "must be NoExecute where tolerationSeconds is set")
	}
}
