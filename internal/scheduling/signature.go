package scheduling

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// keyValues is what is asked of one label.
type keyValues struct {
	key string
	v   values
}

// term is a conjunction, ordered by key, each key once.
type term []keyValues

// signature is what a pod asks of a node's labels and taints: any one of the
// terms, and that the taints are tolerated. Pods share them; pins of topology
// rules make new ones.
type signature struct {
	id     int32
	terms  []term
	tolers []corev1.Toleration
	// more are the tolerations of other pods that share the node: each list must
	// tolerate every taint.
	more [][]corev1.Toleration
	// ports of the host that its pods need, which a node's daemons must not have.
	ports []cluster.HostPort
	key   string
}

// untolerated is the taint that keeps one of the signature's pods off.
func (g *signature) untolerated(taints []corev1.Taint) (hard *corev1.Taint, soft bool) {
	hard, soft = untolerated(taints, g.tolers)
	for _, ts := range g.more {
		h, w := untolerated(taints, ts)
		if hard == nil {
			hard = h
		}
		soft = soft || w
	}
	return hard, soft
}

// ebsZone is the zone label of the EBS CSI driver, which always equals the
// node's zone.
const ebsZone = "topology.ebs.csi.aws.com/zone"

func requirementKey(k string) string {
	if k == ebsZone {
		return cluster.LabelZone
	}
	return cluster.NormalLabel(k)
}

func (t term) and(key string, v values) term {
	i := sort.Search(len(t), func(i int) bool { return t[i].key >= key })
	out := slices.Clone(t)
	if i < len(t) && t[i].key == key {
		out[i].v = t[i].v.and(v)
		return out
	}
	return slices.Insert(out, i, keyValues{key, v})
}

func (t term) andTerm(o term) term {
	for _, kv := range o {
		t = t.and(kv.key, kv.v)
	}
	return t
}

func (t term) impossible() bool {
	for _, kv := range t {
		if kv.v.empty() {
			return true
		}
	}
	return false
}

// selectorTerm turns a node selector term into a conjunction. ok is false for a
// term that matches nothing: one without expressions, or with fields other than
// the node's name, which new nodes cannot promise.
func selectorTerm(nt corev1.NodeSelectorTerm) (t term, ok bool) {
	if len(nt.MatchExpressions) == 0 && len(nt.MatchFields) == 0 {
		return nil, false
	}
	for _, f := range nt.MatchFields {
		t = t.and("metadata.name", valuesOf(cluster.Operator(f.Operator), f.Values))
	}
	for _, e := range nt.MatchExpressions {
		t = t.and(requirementKey(e.Key), valuesOf(cluster.Operator(e.Operator), e.Values))
	}
	return t, true
}

// podTerms is the node selector and the required node affinity.
func podTerms(p *cluster.Pod) []term {
	var base term
	for _, k := range sortedKeys(p.NodeSelector) {
		base = base.and(requirementKey(k), oneOf(p.NodeSelector[k]))
	}
	if p.Affinity == nil || p.Affinity.NodeAffinity == nil || p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return []term{base}
	}
	return crossSelector([]term{base}, p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
}

// crossSelector joins a disjunction with a node selector: one of each.
func crossSelector(terms []term, sel *corev1.NodeSelector) []term {
	out := []term{}
	for _, nt := range sel.NodeSelectorTerms {
		st, ok := selectorTerm(nt)
		if !ok {
			continue
		}
		for _, t := range terms {
			if j := t.andTerm(st); !j.impossible() {
				out = append(out, j)
			}
		}
	}
	return out
}

func signatureKey(terms []term, tolers []corev1.Toleration, more [][]corev1.Toleration) string {
	var b strings.Builder
	for _, t := range terms {
		b.WriteByte('(')
		for _, kv := range t {
			b.WriteString(kv.key)
			b.WriteByte('=')
			b.WriteString(kv.v.key())
			b.WriteByte(';')
		}
		b.WriteByte(')')
	}
	for _, ts := range append([][]corev1.Toleration{tolers}, more...) {
		b.WriteByte('|')
		for i := range ts {
			t := &ts[i]
			b.WriteString("\x00" + t.Key + "\x01" + string(t.Operator) + "\x01" + t.Value + "\x01" + string(t.Effect))
		}
	}
	return b.String()
}

// canonicalTolerations orders tolerations and drops what cannot matter to a
// scheduler: seconds and repeats.
func canonicalTolerations(ts []corev1.Toleration) []corev1.Toleration {
	if len(ts) == 0 {
		return nil
	}
	out := make([]corev1.Toleration, 0, len(ts))
	for _, t := range ts {
		if t.Operator == "" {
			t.Operator = corev1.TolerationOpEqual
		}
		t.TolerationSeconds = nil
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b corev1.Toleration) int {
		return strings.Compare(a.Key+"\x00"+string(a.Operator)+"\x00"+a.Value+"\x00"+string(a.Effect), b.Key+"\x00"+string(b.Operator)+"\x00"+b.Value+"\x00"+string(b.Effect))
	})
	return slices.Compact(out)
}

// signatureOf interns a signature.
func (s *solver) signatureOf(terms []term, tolers []corev1.Toleration) int32 {
	return s.signatureWith(terms, nil, tolers)
}

func (s *solver) signatureWith(terms []term, ports []cluster.HostPort, tolers []corev1.Toleration, more ...[]corev1.Toleration) int32 {
	k := signatureKey(terms, tolers, more)
	for _, hp := range ports {
		k += "\x02" + hp.IP + "/" + string(hp.Protocol) + "/" + strconv.Itoa(int(hp.Port))
	}
	if id, ok := s.sigIndex[k]; ok {
		return id
	}
	id := int32(len(s.sigs))
	s.sigs = append(s.sigs, &signature{id: id, terms: terms, tolers: tolers, more: more, ports: ports, key: k})
	s.sigIndex[k] = id
	return id
}

// pinned is a signature with one more requirement.
func (s *solver) pinned(sig int32, key string, v values) int32 {
	old := s.sigs[sig]
	var terms []term
	for _, t := range old.terms {
		if j := t.and(key, v); !j.impossible() {
			terms = append(terms, j)
		}
	}
	return s.signatureWith(terms, old.ports, old.tolers, old.more...)
}

// joined is the signature of pods that share a node: a term of each.
func (s *solver) joined(a, b int32) int32 {
	if a == b {
		return a
	}
	x, y := s.sigs[a], s.sigs[b]
	var terms []term
	for _, t := range x.terms {
		for _, u := range y.terms {
			if j := t.andTerm(u); !j.impossible() {
				terms = append(terms, j)
			}
		}
	}
	more := slices.Clone(x.more)
	for _, ts := range append([][]corev1.Toleration{y.tolers}, y.more...) {
		same := func(o []corev1.Toleration) bool { return slices.Equal(o, ts) }
		if !same(x.tolers) && !slices.ContainsFunc(more, same) {
			more = append(more, ts)
		}
	}
	ports := slices.Clone(x.ports)
	for _, hp := range y.ports {
		if !slices.Contains(ports, hp) {
			ports = append(ports, hp)
		}
	}
	return s.signatureWith(terms, ports, x.tolers, more...)
}

// tolerated tells whether a taint is tolerated; the rule of the Kubernetes API.
func tolerated(taint *corev1.Taint, tolers []corev1.Toleration) bool {
	for i := range tolers {
		t := &tolers[i]
		if t.Effect != "" && t.Effect != taint.Effect {
			continue
		}
		if t.Key != "" && t.Key != taint.Key {
			continue
		}
		switch t.Operator {
		case corev1.TolerationOpExists:
			return true
		case corev1.TolerationOpEqual, "":
			if t.Key != "" && t.Value == taint.Value {
				return true
			}
		case corev1.TolerationOpLt, corev1.TolerationOpGt:
			if numericToleration(t, taint) {
				return true
			}
		}
	}
	return false
}

func numericToleration(t *corev1.Toleration, taint *corev1.Taint) bool {
	op := cluster.Gt
	if t.Operator == corev1.TolerationOpLt {
		op = cluster.Lt
	}
	return valuesOf(op, []string{t.Value}).has(taint.Value)
}

// untolerated returns the first taint that keeps the pod off, and whether a
// PreferNoSchedule taint would rather have it elsewhere.
func untolerated(taints []corev1.Taint, tolers []corev1.Toleration) (hard *corev1.Taint, soft bool) {
	for i := range taints {
		if tolerated(&taints[i], tolers) {
			continue
		}
		if taints[i].Effect == corev1.TaintEffectPreferNoSchedule {
			soft = true
		} else if hard == nil {
			hard = &taints[i]
		}
	}
	return hard, soft
}

// labelsAllow tells whether a node's labels satisfy one of the terms.
func (g *signature) labelsAllow(name string, labels map[string]string) bool {
	for _, t := range g.terms {
		ok := true
		for _, kv := range t {
			v, present := labels[kv.key]
			if kv.key == "metadata.name" {
				v, present = name, true
			}
			if !kv.v.allows(v, present) {
				ok = false
				break
			}
		}
		if ok {
			return true
		}
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
