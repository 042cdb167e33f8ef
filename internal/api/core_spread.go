package api

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// spread checks topology spread constraints and gives their keys their current
// names, in place.
func (c *podConversion) spread(list []corev1.TopologySpreadConstraint, p *corePath) []corev1.TopologySpreadConstraint {
	for i := range list {
		at := p.at(i)
		c.spreadConstraint(&list[i], &at)
		for j := range list[:i] {
			if list[j].TopologyKey == list[i].TopologyKey && list[j].WhenUnsatisfiable == list[i].WhenUnsatisfiable {
				c.bad(&at, "repeats the topologyKey %s with whenUnsatisfiable %s; keep one of the two", list[i].TopologyKey, list[i].WhenUnsatisfiable)
				break
			}
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// spreadConstraint checks one constraint.
func (c *podConversion) spreadConstraint(t *corev1.TopologySpreadConstraint, p *corePath) {
	if t.MaxSkew < 1 {
		at := p.field("maxSkew")
		c.bad(&at, "%d is not allowed; use 1 or more", t.MaxSkew)
	}
	c.topologyKey(&t.TopologyKey, p)
	switch t.WhenUnsatisfiable {
	case corev1.DoNotSchedule, corev1.ScheduleAnyway:
	default:
		at := p.field("whenUnsatisfiable")
		c.bad(&at, "%q is not allowed; use DoNotSchedule or ScheduleAnyway", t.WhenUnsatisfiable)
	}
	if t.MinDomains != nil {
		at := p.field("minDomains")
		if *t.MinDomains < 1 {
			c.bad(&at, "%d is not allowed; use 1 or more", *t.MinDomains)
		}
		if t.WhenUnsatisfiable == corev1.ScheduleAnyway {
			c.bad(&at, "is only allowed with whenUnsatisfiable DoNotSchedule; remove it")
		}
	}
	c.inclusionPolicy(t.NodeAffinityPolicy, "nodeAffinityPolicy", p)
	c.inclusionPolicy(t.NodeTaintsPolicy, "nodeTaintsPolicy", p)
	at := p.field("labelSelector")
	c.labelSelector(t.LabelSelector, &at)
	at = p.field("matchLabelKeys")
	c.matchKeys(t.MatchLabelKeys, t.LabelSelector, metav1.LabelSelectorOpIn, &at)
}

func (c *podConversion) inclusionPolicy(v *corev1.NodeInclusionPolicy, name string, p *corePath) {
	if v == nil || *v == corev1.NodeInclusionPolicyHonor || *v == corev1.NodeInclusionPolicyIgnore {
		return
	}
	at := p.field(name)
	c.bad(&at, "%q is not allowed; use Honor or Ignore", *v)
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
func (c *podConversion) tolerations(list []corev1.Toleration, p *corePath) []corev1.Toleration {
	for i := range list {
		at := p.at(i)
		c.toleration(&list[i], &at)
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// toleration checks one toleration.
func (c *podConversion) toleration(t *corev1.Toleration, p *corePath) {
	if t.Key != "" {
		if problem := labelKeyProblem(t.Key); problem != "" {
			at := p.field("key")
			c.bad(&at, "the taint key %q %s", t.Key, problem)
		}
	}
	at := p.field("operator")
	switch t.Operator {
	case corev1.TolerationOpExists:
		if t.Value != "" {
			at := p.field("value")
			c.bad(&at, "operator Exists takes no value; remove it, or use Equal")
		}
	case "", corev1.TolerationOpEqual, corev1.TolerationOpLt, corev1.TolerationOpGt:
		if t.Key == "" {
			c.bad(&at, "must be Exists where no key is given, which tolerates every taint")
		}
	default:
		c.bad(&at, "%q is not allowed; use Exists or Equal", t.Operator)
	}
	switch t.Effect {
	case "", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
	default:
		at := p.field("effect")
		c.bad(&at, "%q is not allowed; use NoSchedule, PreferNoSchedule or NoExecute, or leave it out for all", t.Effect)
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		at := p.field("effect")
		c.bad(&at, "must be NoExecute where tolerationSeconds is set")
	}
}
