package plan

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// frame says which nodes count for a spread rule, and in which domains they are.
// Rules of many pods share one.
type frame struct {
	id        int32
	key       int32
	keys      []int32 // of all hard constraints of the pods: a node counts that has them all
	filter    int32   // selector that a node must meet to count; -1: none
	taints    bool    // a node counts whose taints are tolerated
	tolerates []corev1.Toleration
	counts    []domains // by kind, as far as asked for
}

// frameOf is the frame of one of a pod's constraints.
func (t *topology) frameOf(p *cluster.Pod, s *corev1.TopologySpreadConstraint) *frame {
	f := &frame{key: t.key(s.TopologyKey), filter: -1, taints: s.NodeTaintsPolicy != nil && *s.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor}
	if s.NodeAffinityPolicy == nil || *s.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor {
		f.filter = t.c.selectorOf(p)
	}
	if f.taints {
		f.tolerates = p.Tolerations
	}
	for i := range p.Spread {
		if k := t.key(p.Spread[i].TopologyKey); p.Spread[i].WhenUnsatisfiable == corev1.DoNotSchedule && !slices.Contains(f.keys, k) {
			f.keys = append(f.keys, k)
		}
	}
	slices.Sort(f.keys)
	b := t.buf[:0]
	b = append(strconv.AppendInt(b, int64(f.key), 10), ' ')
	b = append(strconv.AppendInt(b, int64(f.filter), 10), ' ')
	for _, k := range f.keys {
		b = append(strconv.AppendInt(b, int64(k), 10), ',')
	}
	if f.taints {
		b = appendTolerations(append(b, 't'), f.tolerates)
	}
	t.buf = b
	if known := t.frameIndex[string(b)]; known != nil {
		return known
	}
	f.id = int32(len(t.frames))
	t.frames = append(t.frames, f)
	t.frameIndex[string(b)] = f
	return f
}

func appendTolerations(b []byte, list []corev1.Toleration) []byte {
	for i := range list {
		b = appendText(appendText(appendText(appendText(b, list[i].Key), string(list[i].Operator)), list[i].Value), string(list[i].Effect))
	}
	return b
}

// counted is where the nodes of a kind count: nowhere if they lack a key or the
// pod's node affinity or tolerations keep it off, as far as the rule honours them.
// By hostname one value stands for whichever node it is.
func (t *topology) counted(f *frame, kind int32) *domains {
	if f.counts == nil {
		f.counts = make([]domains, len(t.kinds))
	}
	d := &f.counts[kind]
	if d.known {
		return d
	}
	*d = t.findCounted(f, kind)
	d.known = true
	return d
}

func (t *topology) findCounted(f *frame, kind int32) domains {
	k := &t.kinds[kind]
	if k.choice == nil && k.site.plan != nil || f.taints && untolerated(k.site.taints, f.tolerates) != nil {
		return domains{nowhere: true}
	}
	fits := fitAll
	if f.filter >= 0 {
		switch {
		case k.choice != nil:
			fits = t.c.fitsChoice(k.choice, f.filter)
		case !t.c.selectors[f.filter].matches(k.site):
			fits = fitNone
		}
	}
	whole := fits == fitAll
	for _, key := range f.keys {
		whole = whole && (key == hostKey || !t.domainsOf(key, kind).nowhere)
	}
	switch {
	case whole && f.key == hostKey:
		return domains{values: []int32{0}}
	case whole:
		return *t.domainsOf(f.key, kind)
	case fits == fitNone || k.choice == nil:
		return domains{nowhere: true}
	}
	return t.countedOffers(f, k.choice)
}

// countedOffers looks at each offer of a choice.
func (t *topology) countedOffers(f *frame, ch *choice) domains {
	var mine *column
	var all []*column
	for _, key := range f.keys {
		if key == hostKey {
			continue
		}
		all = append(all, t.c.column(ch.t, t.keys[key]))
		if key == f.key {
			mine = all[len(all)-1]
		}
	}
	out := domains{}
	for _, o := range ch.offers {
		at := int32(0)
		if mine != nil {
			at = mine.at(o)
		}
		if f.filter >= 0 && !t.c.offerFits(ch.t, f.filter, o) || slices.ContainsFunc(all, func(c *column) bool { return c.at(o) < 0 }) {
			at = -1
		}
		out.add(at)
	}
	return out
}
