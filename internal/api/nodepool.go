package api

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// What the schema of NodePool fills in.
const (
	defaultExpireAfter      = "720h"
	defaultConsolidateAfter = "0s"
	defaultBudget           = "10%"

	maxBudgets = 50
	maxReasons = 50
	maxLabels  = 100
)

// consolidationPolicies are the policies that a NodePool may have, the default
// first.
var consolidationPolicies = []string{"WhenEmptyOrUnderutilized", "WhenEmpty", "Balanced"}

// budgetReasons are the reasons that a budget may be for.
var budgetReasons = []string{"Underutilized", "Empty", "Drifted"}

// poolHints say what became of fields that older versions had.
var poolHints = map[string]string{
	"spec.template.spec.kubelet":                 "unknown field; it has moved to the node class: spec.kubelet of the EC2NodeClass",
	"spec.template.spec.resources":               "unknown field; resources are asked for by pods; take it out",
	"spec.template.spec.nodeClassRef.apiVersion": "unknown field; write group: karpenter.k8s.aws instead",
	"spec.disruption.expireAfter":                "unknown field; it has moved to spec.template.spec.expireAfter",
	"spec.ttlSecondsAfterEmpty":                  "unknown field; write spec.disruption with consolidationPolicy: WhenEmpty and consolidateAfter",
	"spec.ttlSecondsUntilExpired":                "unknown field; write spec.template.spec.expireAfter",
	"spec.requirements":                          "unknown field; it belongs under spec.template.spec",
	"spec.taints":                                "unknown field; it belongs under spec.template.spec",
	"spec.startupTaints":                         "unknown field; it belongs under spec.template.spec",
	"spec.nodeClassRef":                          "unknown field; it belongs under spec.template.spec",
	"spec.expireAfter":                           "unknown field; it belongs under spec.template.spec",
	"spec.labels":                                "unknown field; it belongs under spec.template.metadata",
	"spec.template.labels":                       "unknown field; it belongs under spec.template.metadata",
	"spec.template.spec.labels":                  "unknown field; it belongs under spec.template.metadata",
	"spec.consolidation":                         "unknown field; write spec.disruption.consolidationPolicy",
	"spec.budgets":                               "unknown field; it belongs under spec.disruption",
	"spec.providerRef":                           "unknown field; write spec.template.spec.nodeClassRef",
}

// readNodePool decodes, defaults, validates and converts a NodePool.
func readNodePool(l *loader, o *Object) any {
	in := &NodePool{}
	before := l.rep.count()
	l.rep.hints = poolHints
	decodeStrict(o.Raw, in, l.rep)
	l.rep.hints = nil
	checkMeta(&in.Metadata, l.rep)
	if len(in.Metadata.Name) > 63 {
		l.rep.warn("metadata.name", "is longer than 63 characters, which the label karpenter.sh/nodepool of its nodes cannot hold")
	}
	out := cluster.NodePool{
		Name:     in.Metadata.Name,
		UID:      string(in.Metadata.UID),
		Deleting: in.Metadata.DeletionTimestamp != nil,
	}
	if in.Spec == nil {
		l.rep.missing("spec", "a NodePool says in spec.template what its nodes are")
		return nil
	}
	defaultNodePool(in.Spec)
	checkPoolSpec(in.Spec, &out, l.rep)
	if l.rep.count() > before {
		return nil
	}
	out.Hash = poolHash(&out)
	l.result.Snapshot.NodePools = append(l.result.Snapshot.NodePools, out)
	return in
}

// defaultNodePool fills in what the schema fills in: only where the block that
// holds the field is there.
func defaultNodePool(s *NodePoolSpec) {
	if s.Disruption == nil {
		s.Disruption = &Disruption{ConsolidateAfter: ptr(defaultConsolidateAfter)}
	}
	d := s.Disruption
	if d.ConsolidationPolicy == nil {
		d.ConsolidationPolicy = ptr(consolidationPolicies[0])
	}
	if d.Budgets == nil {
		d.Budgets = []Budget{{}}
	}
	for i := range d.Budgets {
		if d.Budgets[i].Nodes == nil {
			d.Budgets[i].Nodes = ptr(defaultBudget)
		}
	}
	if s.Template != nil && s.Template.Spec != nil {
		defaultTemplate(s.Template.Spec)
	}
}

// defaultTemplate fills in the defaults that NodePools and NodeClaims share.
func defaultTemplate(s *NodeClaimTemplateSpec) {
	if s.ExpireAfter == nil {
		s.ExpireAfter = ptr(defaultExpireAfter)
	}
}

func ptr[T any](v T) *T { return &v }

// checkPoolSpec applies the rules and converts as it goes.
func checkPoolSpec(s *NodePoolSpec, out *cluster.NodePool, r *reporter) {
	if s.Template == nil {
		r.missing("spec.template", "it says what nodes the pool makes")
	} else {
		checkTemplate(s.Template, out, r)
	}
	checkDisruption(s.Disruption, out, r)
	checkLimits(s, out, r)
	if s.Weight != nil && r.within("spec.weight", int64(*s.Weight), 1, 100) {
		out.Weight = *s.Weight
	}
	notNegative(r, "spec.replicas", s.Replicas)
	out.Replicas = s.Replicas
	if s.Replicas != nil && s.Weight != nil {
		r.add("spec.weight", "may not be set together with spec.replicas: a pool of fixed size is not chosen by weight; take one of the two out")
	}
}

// checkTemplate applies the rules for spec.template.
func checkTemplate(t *NodeClaimTemplate, out *cluster.NodePool, r *reporter) {
	if m := t.Metadata; m != nil {
		const at = "spec.template.metadata.labels"
		r.atMost(at, len(m.Labels), maxLabels)
		checkLabels(m.Labels, at, r)
		for _, k := range sortedKeys(m.Labels) {
			checkUse(k, key(at, k), inPool, r)
		}
		out.Labels, out.Annotations = m.Labels, m.Annotations
		for _, k := range sortedKeys(m.Annotations) {
			checkKey(strings.ToLower(k), key("spec.template.metadata.annotations", k), r)
		}
	}
	if t.Spec == nil {
		r.missing("spec.template.spec", "it holds nodeClassRef and requirements")
		return
	}
	c := checkTemplateSpec(t.Spec, "spec.template.spec", inPool, r)
	out.NodeClass, out.Requirements = c.NodeClass, c.Requirements
	out.Taints, out.StartupTaints = c.Taints, c.StartupTaints
	out.ExpireAfter, out.TerminationGracePeriod = c.ExpireAfter, c.TerminationGracePeriod
}

// checkTemplateSpec applies the rules that NodePools and NodeClaims share, and
// converts into a claim.
func checkTemplateSpec(s *NodeClaimTemplateSpec, path string, use keyUse, r *reporter) cluster.NodeClaim {
	out := cluster.NodeClaim{
		NodeClass:     checkClassRef(s.NodeClassRef, field(path, "nodeClassRef"), r),
		Requirements:  checkRequirements(s.Requirements, field(path, "requirements"), use, r),
		Taints:        s.Taints,
		StartupTaints: s.StartupTaints,
		ExpireAfter:   r.duration(field(path, "expireAfter"), s.ExpireAfter, true),
	}
	checkTaints(s, path, r)
	if s.TerminationGracePeriod != nil {
		d := r.duration(field(path, "terminationGracePeriod"), s.TerminationGracePeriod, false)
		out.TerminationGracePeriod = &d.Duration
	}
	return out
}

// checkClassRef wants a full reference to a node class.
func checkClassRef(ref *NodeClassRef, path string, r *reporter) cluster.NodeClassRef {
	if ref == nil {
		r.missing(path, "name the node class: group: karpenter.k8s.aws, kind: EC2NodeClass and its name")
		return cluster.NodeClassRef{}
	}
	for _, f := range []struct {
		name, mend string
		value      *string
	}{
		{"group", "write karpenter.k8s.aws", ref.Group},
		{"kind", "write EC2NodeClass", ref.Kind},
		{"name", "write the name of the EC2NodeClass", ref.Name},
	} {
		switch {
		case f.value == nil:
			r.missing(field(path, f.name), f.mend)
		case *f.value == "":
			r.add(field(path, f.name), "is empty; "+f.mend)
		}
	}
	out := cluster.NodeClassRef{Group: text(ref.Group), Kind: text(ref.Kind), Name: text(ref.Name)}
	if group, _, ok := strings.Cut(out.Group, "/"); ok {
		r.add(field(path, "group"), strconv.Quote(shorten(out.Group))+" has a version in it; write "+strconv.Quote(shorten(group)))
	} else if out.Group != "" && out.Kind != "" && (out.Group != groupClass || out.Kind != "EC2NodeClass") {
		r.warn(path, out.Kind+" of "+out.Group+" is not a class that this program knows; it knows EC2NodeClass of "+groupClass)
	}
	return out
}

// checkTaints applies the rules for taints and startup taints.
func checkTaints(s *NodeClaimTemplateSpec, path string, r *reporter) {
	seen := map[string]string{}
	for _, list := range []struct {
		name   string
		taints []corev1.Taint
	}{{"taints", s.Taints}, {"startupTaints", s.StartupTaints}} {
		for i := range list.taints {
			t, at := &list.taints[i], index(field(path, list.name), i)
			checkTaint(t, at, r)
			id := t.Key + ":" + string(t.Effect)
			if first, twice := seen[id]; twice {
				r.warn(at, "the taint "+id+" stands at "+first+" already; a node can have it once")
			}
			seen[id] = at
		}
	}
}

var taintEffects = []string{string(corev1.TaintEffectNoSchedule), string(corev1.TaintEffectPreferNoSchedule), string(corev1.TaintEffectNoExecute)}

func checkTaint(t *corev1.Taint, path string, r *reporter) {
	if t.Key == "" {
		r.missing(field(path, "key"), "name the taint, such as example.com/team")
	} else {
		checkKey(t.Key, field(path, "key"), r)
	}
	checkTaintValue(t.Value, field(path, "value"), r)
	if t.Effect == "" {
		r.missing(field(path, "effect"), "write "+orList(taintEffects))
	} else {
		r.oneOf(field(path, "effect"), string(t.Effect), taintEffects...)
	}
}

// checkTaintValue wants what the schema takes, which may have a domain before it
// as a key may. The kubelet takes the value of a label only.
func checkTaintValue(v, path string, r *reporter) {
	switch {
	case len(validation.IsValidLabelValue(v)) == 0:
	case len(validation.IsQualifiedName(v)) == 0:
		r.warn(path, strconv.Quote(shorten(v))+" is not a label value, and a kubelet does not register with such a taint; write at most 63 letters, digits, -, _ and .")
	default:
		checkValue(v, path, r)
	}
}

// checkLimits applies the rules for spec.limits.
func checkLimits(s *NodePoolSpec, out *cluster.NodePool, r *reporter) {
	out.Limits = quantities(s.Limits, "spec.limits", r)
	for _, l := range out.Limits {
		at := key("spec.limits", l.Name)
		if l.Amount == 0 {
			r.warn(at, "a limit of 0 keeps the pool from making any node")
		}
		if s.Replicas != nil && l.Name != cluster.Nodes {
			r.add(at, "may not be limited together with spec.replicas: a pool of fixed size knows the limit nodes only; take it out")
		}
	}
	if known := []string{cluster.CPU, cluster.Memory, cluster.Nodes, cluster.EphemeralStorage, cluster.Pods}; s.Replicas == nil {
		for _, l := range out.Limits {
			if near := nearest(l.Name, known); near != "" && near != l.Name {
				r.warn(key("spec.limits", l.Name), "no instance type has the resource "+strconv.Quote(l.Name)+`; did you mean "`+near+`"?`)
			}
		}
	}
}

// checkDisruption applies the rules for spec.disruption.
func checkDisruption(d *Disruption, out *cluster.NodePool, r *reporter) {
	const at = "spec.disruption"
	if d.ConsolidateAfter == nil {
		r.missing(at+".consolidateAfter", "write how long a node must have been quiet before it may be consolidated, such as 0s, 5m or Never")
	}
	out.Disruption.ConsolidateAfter = r.duration(at+".consolidateAfter", d.ConsolidateAfter, true)
	if *d.ConsolidationPolicy == "WhenUnderutilized" {
		r.add(at+".consolidationPolicy", "WhenUnderutilized is of an older version; write WhenEmptyOrUnderutilized, which is the same")
	} else {
		r.oneOf(at+".consolidationPolicy", *d.ConsolidationPolicy, consolidationPolicies...)
	}
	out.Disruption.ConsolidationPolicy = *d.ConsolidationPolicy
	r.atMost(at+".budgets", len(d.Budgets), maxBudgets)
	for i := range min(len(d.Budgets), maxBudgets) {
		out.Disruption.Budgets = append(out.Disruption.Budgets, checkBudget(&d.Budgets[i], index(at+".budgets", i), r))
	}
}
