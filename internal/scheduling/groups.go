package scheduling

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// groupKind is what a topology rule demands of the pods that it counts.
type groupKind uint8

const (
	spread   groupKind = iota // counts of the domains differ by at most maxSkew
	affinity                  // a counted pod is in the domain
	anti                      // no other counted pod is in the domain
	port                      // host ports: anti-affinity on the node, by port
)

// group is a topology rule that one or several pods declare. The pods that its
// selector matches are counted by domain; pods that declare it are its owners,
// and a domain with an owner must keep the rule.
//
// A plan keeps a rule when every owner could be admitted where it is, all other
// pods being where the plan puts them: that does not depend on the order in
// which the pods are bound.
type group struct {
	kind       groupKind
	key        string // topology key; kubernetes.io/hostname is a node
	namespaces []string
	allNS      bool
	sel        *cluster.Selector
	maxSkew    int32
	minDomains int32
	// filter is the signature that a node must meet to be counted (spread with
	// nodeAffinityPolicy Honor), -1 when every node counts.
	filter      int32
	honorTaints bool
	hostPort    cluster.HostPort
	// also are the pod's other affinity terms: the scheduler looks for pods that
	// match all of them at once.
	also []podSelector
	// claim is the unbound volume claim, by namespace/name, whose users must share
	// a zone: its volume is made where the first of them lands.
	claim string
	id    string
}

// podSelector is the pods that a term is about.
type podSelector struct {
	namespaces []string
	allNS      bool
	sel        *cluster.Selector
}

func (g *group) selector() podSelector { return podSelector{g.namespaces, g.allNS, g.sel} }

func (x *podSelector) matches(ns string, labels map[string]string) bool {
	return (x.allNS || slices.Contains(x.namespaces, ns)) && cluster.Matches(x.sel, labels)
}

func (x *podSelector) write(b *strings.Builder) {
	if x.allNS {
		b.WriteByte('*')
	}
	b.WriteString(strings.Join(x.namespaces, ","))
	b.WriteByte(0)
	writeSelector(b, x.sel)
}

// matches tells whether a rule counts pods with these labels.
func (g *group) matches(ns string, labels map[string]string) bool {
	own := g.selector()
	if g.claim != "" || !own.matches(ns, labels) {
		return false
	}
	return !slices.ContainsFunc(g.also, func(x podSelector) bool { return !x.matches(ns, labels) })
}

func (g *group) host() bool { return g.key == cluster.LabelHostname }

// ref is a class's part in a group: it declares it, is counted by it, or both.
type ref struct {
	g          int32
	own, match bool
}

// ownedGroups are the rules that a pod declares.
type ownedGroups struct {
	hard []int32
	soft []softGroup
}

type softGroup struct {
	g      int32
	weight int32 // 1–100
}

// internGroup finds or adds a group.
func (s *solver) internGroup(g group) int32 {
	var b strings.Builder
	b.WriteByte(byte('0' + g.kind))
	b.WriteString(g.key)
	b.WriteByte(0)
	if g.kind == port {
		b.WriteString(g.hostPort.IP + "/" + string(g.hostPort.Protocol) + "/" + strconv.Itoa(int(g.hostPort.Port)))
	} else {
		own := g.selector()
		own.write(&b)
		for i := range g.also {
			b.WriteByte(1)
			g.also[i].write(&b)
		}
		if g.claim != "" {
			b.WriteString("\x02" + g.claim)
		}
		if g.kind == spread {
			for _, n := range []int32{g.maxSkew, g.minDomains, g.filter} {
				b.WriteByte(0)
				b.WriteString(strconv.Itoa(int(n)))
			}
			if g.honorTaints {
				b.WriteByte('t')
			}
		}
	}
	g.id = b.String()
	if id, ok := s.groupIndex[g.id]; ok {
		return id
	}
	id := int32(len(s.groups))
	s.groups = append(s.groups, &g)
	s.groupIndex[g.id] = id
	s.indexGroup(id, &g)
	return id
}

func writeSelector(b *strings.Builder, sel *cluster.Selector) {
	if sel == nil {
		b.WriteString("none")
		return
	}
	for _, k := range sortedKeys(sel.MatchLabels) {
		b.WriteString(k + "=" + sel.MatchLabels[k] + ";")
	}
	exprs := slices.Clone(sel.MatchExpressions)
	sort.SliceStable(exprs, func(i, j int) bool {
		return exprs[i].Key+string(exprs[i].Operator) < exprs[j].Key+string(exprs[j].Operator)
	})
	for _, e := range exprs {
		vs := slices.Clone(e.Values)
		slices.Sort(vs)
		b.WriteString(e.Key + " " + string(e.Operator) + " " + strings.Join(vs, ",") + ";")
	}
}

// indexGroup files a group under one label that it insists on, so that a pod is
// compared only with groups that could match it.
func (s *solver) indexGroup(id int32, g *group) {
	if g.kind == port || g.claim != "" {
		return
	}
	if g.sel != nil {
		for _, k := range sortedKeys(g.sel.MatchLabels) {
			s.byLabel[labelPair{k, g.sel.MatchLabels[k]}] = append(s.byLabel[labelPair{k, g.sel.MatchLabels[k]}], id)
			return
		}
		for _, e := range g.sel.MatchExpressions {
			if e.Operator == metav1.LabelSelectorOpIn {
				vs := slices.Clone(e.Values)
				slices.Sort(vs)
				for _, v := range slices.Compact(vs) {
					s.byLabel[labelPair{e.Key, v}] = append(s.byLabel[labelPair{e.Key, v}], id)
				}
				return
			}
		}
	}
	s.unindexed = append(s.unindexed, id)
}

type labelPair struct{ key, value string }

// matched lists the groups that count a pod with these labels, ascending.
func (s *solver) matched(ns string, labels map[string]string) []int32 {
	if len(s.groups) == 0 {
		return nil
	}
	var out []int32
	try := func(id int32) {
		if s.groups[id].matches(ns, labels) {
			out = append(out, id)
		}
	}
	for k, v := range labels {
		for _, id := range s.byLabel[labelPair{k, v}] {
			try(id)
		}
	}
	for _, id := range s.unindexed {
		try(id)
	}
	slices.Sort(out)
	return out
}

// groupsOf reads the rules that a pod declares. sigHard is the signature of its
// own selector and affinity, which spread rules count nodes by.
func (s *solver) groupsOf(p *cluster.Pod, filter int32) ownedGroups {
	var out ownedGroups
	spreads := p.Spread
	if len(spreads) == 0 && len(s.p.Options.DefaultSpread) > 0 && len(p.Labels) > 0 {
		spreads = s.defaultSpread(p)
	}
	keys := spreadKeys(spreads)
	for i := range spreads {
		s.spreadGroup(&out, p, &spreads[i], filter, keys)
	}
	if p.Affinity != nil && p.Affinity.PodAffinity != nil {
		a := p.Affinity.PodAffinity
		out.hard = append(out.hard, s.affinityGroups(p, a.RequiredDuringSchedulingIgnoredDuringExecution)...)
		for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
			w := &a.PreferredDuringSchedulingIgnoredDuringExecution[i]
			out.soft = append(out.soft, softGroup{s.podGroup(affinity, p, &w.PodAffinityTerm), w.Weight})
		}
	}
	if p.Affinity != nil && p.Affinity.PodAntiAffinity != nil {
		a := p.Affinity.PodAntiAffinity
		for i := range a.PreferredDuringSchedulingIgnoredDuringExecution {
			w := &a.PreferredDuringSchedulingIgnoredDuringExecution[i]
			out.soft = append(out.soft, softGroup{s.podGroup(anti, p, &w.PodAffinityTerm), w.Weight})
		}
	}
	out.hard = append(out.hard, s.repelling(p)...)
	out.hard = append(out.hard, s.claimGroups(p)...)
	slices.Sort(out.hard)
	out.hard = slices.Compact(out.hard)
	if s.p.Options.IgnorePreferences {
		out.soft = nil
	}
	return out
}

// repelling are the rules of a pod that bind those who come after it too: its
// required anti-affinity and its host ports.
func (s *solver) repelling(p *cluster.Pod) []int32 {
	var out []int32
	if p.Affinity != nil && p.Affinity.PodAntiAffinity != nil {
		a := p.Affinity.PodAntiAffinity
		for i := range a.RequiredDuringSchedulingIgnoredDuringExecution {
			out = append(out, s.podGroup(anti, p, &a.RequiredDuringSchedulingIgnoredDuringExecution[i]))
		}
	}
	for _, hp := range p.HostPorts {
		out = append(out, s.internGroup(group{kind: port, key: cluster.LabelHostname, hostPort: normalPort(hp), filter: -1}))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func normalPort(hp cluster.HostPort) cluster.HostPort {
	if hp.Protocol == "" {
		hp.Protocol = corev1.ProtocolTCP
	}
	if wildcardIP(hp.IP) {
		hp.IP = ""
	}
	return hp
}

func wildcardIP(ip string) bool { return ip == "" || ip == "0.0.0.0" || ip == "::" }

func portsClash(a, b cluster.HostPort) bool {
	return a.Port == b.Port && a.Protocol == b.Protocol && (a.IP == b.IP || a.IP == "" || b.IP == "")
}

func (s *solver) spreadGroup(out *ownedGroups, p *cluster.Pod, c *corev1.TopologySpreadConstraint, filter int32, keys []string) {
	g := group{kind: spread, key: requirementKey(c.TopologyKey), namespaces: []string{p.Namespace}, sel: c.LabelSelector, maxSkew: c.MaxSkew, filter: filter}
	if c.MinDomains != nil {
		g.minDomains = *c.MinDomains
	}
	if c.NodeAffinityPolicy != nil && *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyIgnore {
		g.filter = -1
	}
	if slices.ContainsFunc(keys, func(k string) bool { return k != g.key }) {
		g.filter = s.withKeys(g.filter, keys)
	}
	if c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor {
		g.honorTaints = true
		g.filter = s.withTolerations(g.filter, p)
	}
	id := s.internGroup(g)
	if c.WhenUnsatisfiable == corev1.ScheduleAnyway {
		out.soft = append(out.soft, softGroup{id, anywayWeight})
		return
	}
	out.hard = append(out.hard, id)
}

// spreadKeys lists the topology keys of the rules that must hold. The scheduler
// counts a node for any of them only when it has them all.
func spreadKeys(cs []corev1.TopologySpreadConstraint) []string {
	var keys []string
	for i := range cs {
		if cs[i].WhenUnsatisfiable != corev1.ScheduleAnyway && requirementKey(cs[i].TopologyKey) != hostKey {
			keys = append(keys, requirementKey(cs[i].TopologyKey))
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// withKeys makes a filter that also wants the labels to be there.
func (s *solver) withKeys(filter int32, keys []string) int32 {
	terms := []term{nil}
	if filter >= 0 {
		terms = s.sigs[filter].terms
	}
	out := make([]term, 0, len(terms))
	for _, t := range terms {
		for _, k := range keys {
			t = t.and(k, valuesOf(cluster.Exists, nil))
		}
		if !t.impossible() {
			out = append(out, t)
		}
	}
	return s.signatureOf(out, nil)
}

// anywayWeight is what a ScheduleAnyway spread weighs against price.
const anywayWeight = 20

// withTolerations makes a filter that remembers tolerations too.
func (s *solver) withTolerations(filter int32, p *cluster.Pod) int32 {
	terms := []term{nil}
	if filter >= 0 {
		terms = s.sigs[filter].terms
	}
	return s.signatureOf(terms, canonicalTolerations(p.Tolerations))
}

func (s *solver) defaultSpread(p *cluster.Pod) []corev1.TopologySpreadConstraint {
	labels := map[string]string{}
	for k, v := range p.Labels {
		if !perPodLabel(k) {
			labels[k] = v
		}
	}
	out := slices.Clone(s.p.Options.DefaultSpread)
	for i := range out {
		out[i].LabelSelector = &cluster.Selector{MatchLabels: labels}
	}
	return out
}

// perPodLabel names the labels that controllers set differently on each pod.
func perPodLabel(k string) bool {
	switch k {
	case "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index", "pod-template-hash", "controller-revision-hash":
		return true
	}
	return false
}

// affinityGroups are the rules of a pod's required affinity.
func (s *solver) affinityGroups(p *cluster.Pod, terms []corev1.PodAffinityTerm) []int32 {
	gs := make([]group, len(terms))
	for i := range terms {
		gs[i] = s.termGroup(affinity, p, &terms[i])
	}
	out := make([]int32, len(terms))
	for i := range gs {
		g := gs[i]
		for k := range gs {
			if k != i {
				g.also = append(g.also, gs[k].selector())
			}
		}
		out[i] = s.internGroup(g)
	}
	return out
}

func (s *solver) podGroup(kind groupKind, p *cluster.Pod, t *corev1.PodAffinityTerm) int32 {
	return s.internGroup(s.termGroup(kind, p, t))
}

// termGroup is the rule of one term.
func (s *solver) termGroup(kind groupKind, p *cluster.Pod, t *corev1.PodAffinityTerm) group {
	g := group{kind: kind, key: requirementKey(t.TopologyKey), sel: t.LabelSelector, filter: -1}
	names := slices.Clone(t.Namespaces)
	switch {
	case t.NamespaceSelector != nil && len(t.NamespaceSelector.MatchLabels) == 0 && len(t.NamespaceSelector.MatchExpressions) == 0:
		g.allNS = true
		names = nil
	case t.NamespaceSelector != nil:
		for i := range s.p.Namespaces {
			if n := &s.p.Namespaces[i]; cluster.Matches(t.NamespaceSelector, n.Labels) {
				names = append(names, n.Name)
			}
		}
	case len(names) == 0:
		names = []string{p.Namespace}
	}
	slices.Sort(names)
	g.namespaces = slices.Compact(names)
	return g
}

// refsOf joins the rules that a pod declares with those that count it.
func (s *solver) refsOf(owned []int32, match []int32, ports []cluster.HostPort) []ref {
	out := make([]ref, 0, len(owned)+len(match))
	i, j := 0, 0
	for i < len(owned) || j < len(match) {
		switch {
		case j == len(match) || i < len(owned) && owned[i] < match[j]:
			out = append(out, ref{g: owned[i], own: true, match: s.groups[owned[i]].claim != ""})
			i++
		case i == len(owned) || match[j] < owned[i]:
			out = append(out, ref{g: match[j], match: true})
			j++
		default:
			out = append(out, ref{g: owned[i], own: true, match: true})
			i++
			j++
		}
	}
	if len(ports) == 0 {
		return out
	}
	return s.portRefs(out, ports)
}

// portRefs marks every port group that the pod's ports clash with as one that
// counts it.
func (s *solver) portRefs(refs []ref, ports []cluster.HostPort) []ref {
	for id, g := range s.groups {
		if g.kind != port {
			continue
		}
		clash := slices.ContainsFunc(ports, func(hp cluster.HostPort) bool {
			return portsClash(normalPort(hp), g.hostPort)
		})
		if !clash {
			continue
		}
		k := sort.Search(len(refs), func(k int) bool { return refs[k].g >= int32(id) })
		if k < len(refs) && refs[k].g == int32(id) {
			refs[k].match = true
		} else {
			refs = slices.Insert(refs, k, ref{g: int32(id), match: true})
		}
	}
	return refs
}
