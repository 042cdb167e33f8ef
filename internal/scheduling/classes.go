package scheduling

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// shape is what pods ask for that differ in nothing but their labels.
type shape struct {
	rep      *cluster.Pod
	req      vec
	sig      int32 // node selector, required affinity, volumes, tolerations
	owned    ownedGroups
	prefs    []preference
	priority int32
	problem  string
	claims   []claimUse // of volumes that count against a node's limit
}

// preference is a preferred node affinity term.
type preference struct {
	weight int32
	t      term
}

// class is pods that the scheduler could not tell apart.
type class struct {
	id    int32
	shape *shape
	pods  []int32 // into Problem.Pods, ordered by namespace and name
	req   vec
	sig   int32 // the shape's, or narrower where preferences are honoured
	hard  []ref // rules that must hold
	soft  []softRef
}

type softRef struct {
	ref
	weight int32
}

// classify groups the pods. Pods come ordered by name, so that everything that
// is numbered on the way is numbered the same whatever the order of the input.
func (s *solver) classify(order []int32) {
	x := shapeHasher{seed: maphash.MakeSeed()}
	shapes := map[uint64]int{}
	var list []*shape
	shapeOf := make([]int32, len(order))
	for i, pi := range order {
		p := s.p.Pods[pi]
		h := x.pod(p)
		if len(s.p.Options.DefaultSpread) > 0 {
			x.str(p.Namespace)
			x.pairs(p.Labels)
			h = x.h
		}
		k, ok := shapes[h]
		if !ok {
			k = len(list)
			shapes[h] = k
			list = append(list, s.newShape(p))
		}
		shapeOf[i] = int32(k)
	}
	s.standingGroups()
	s.markHard(list)

	type classKey struct{ shape, match int32 }
	matchIDs := map[string]int32{}
	var matches [][]int32
	byLabels := map[uint64]int32{}
	index := map[classKey]*class{}
	for i, pi := range order {
		p := s.p.Pods[pi]
		sh := list[shapeOf[i]]
		if sh.problem != "" {
			s.leave(pi, sh.problem)
			continue
		}
		if claim := s.takeExclusive(p); claim != "" {
			s.leave(pi, fmt.Sprintf("PersistentVolumeClaim %q may be used by one pod at a time (ReadWriteOncePod), and another has it: give this pod a claim of its own, or end the other", claim))
			continue
		}
		m := int32(-1)
		if len(s.groups) > 0 {
			x.reset()
			x.str(p.Namespace)
			x.pairs(p.Labels)
			var known bool
			if m, known = byLabels[x.h]; !known {
				gs := s.matched(p.Namespace, p.Labels)
				k := int32Key(gs)
				if m, known = matchIDs[k]; !known {
					m = int32(len(matches))
					matchIDs[k] = m
					matches = append(matches, gs)
				}
				byLabels[x.h] = m
			}
		}
		k := classKey{shapeOf[i], m}
		c := index[k]
		if c == nil {
			c = &class{id: int32(len(s.classes)), shape: sh, req: sh.req, sig: sh.sig}
			var gs []int32
			if m >= 0 {
				gs = matches[m]
			}
			s.classRefs(c, gs)
			index[k] = c
			s.classes = append(s.classes, c)
		}
		c.pods = append(c.pods, pi)
	}
}

// takeExclusive takes the claims of a pod that only one pod may use. It returns
// the first that another pod has.
func (s *solver) takeExclusive(p *cluster.Pod) string {
	for i := range p.Volumes {
		v := &p.Volumes[i]
		pvc := s.p.Volumes.Claims[p.Namespace+"/"+v.Claim]
		if v.Claim == "" || pvc == nil || !slices.Contains(pvc.AccessModes, corev1.ReadWriteOncePod) {
			continue
		}
		id := p.Namespace + "/" + v.Claim
		if user := s.exclusiveUser(id); user != p.Key() {
			return v.Claim
		}
	}
	return ""
}

// exclusiveUser is the pod that has a claim for itself: one that stands, or of
// those that wait the one of the highest priority, then by name.
func (s *solver) exclusiveUser(id string) string {
	if s.exclusive == nil {
		s.exclusive = map[string]string{}
		for i := range s.p.Nodes {
			for _, p := range s.p.Nodes[i].Pods {
				for k := range p.Volumes {
					if c := p.Volumes[k].Claim; c != "" {
						s.exclusive[p.Namespace+"/"+c] = p.Key()
					}
				}
			}
		}
		first := map[string]*cluster.Pod{}
		for _, p := range s.p.Pods {
			for k := range p.Volumes {
				id := p.Namespace + "/" + p.Volumes[k].Claim
				if old := first[id]; old == nil || p.Priority > old.Priority || p.Priority == old.Priority && comparePods(p, old) < 0 {
					first[id] = p
				}
			}
		}
		for id, p := range first {
			if s.exclusive[id] == "" {
				s.exclusive[id] = p.Key()
			}
		}
	}
	return s.exclusive[id]
}

func int32Key(ids []int32) string {
	b := make([]byte, 0, 4*len(ids))
	for _, id := range ids {
		b = append(b, byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
	}
	return string(b)
}

// newShape compiles a pod's demands.
func (s *solver) newShape(p *cluster.Pod) *shape {
	sh := &shape{rep: p, priority: p.Priority}
	terms := podTerms(p)
	tolers := canonicalTolerations(p.Tolerations)
	filter := int32(-1)
	if len(p.Spread) > 0 || len(s.p.Options.DefaultSpread) > 0 {
		filter = s.signatureOf(terms, nil)
	}
	sh.owned = s.groupsOf(p, filter)
	if len(p.Volumes) > 0 {
		needs := s.volumesOf(p)
		sh.problem = needs.problem
		if needs.terms != nil {
			var joined []term
			for _, a := range terms {
				for _, b := range needs.terms {
					if j := a.andTerm(b); !j.impossible() {
						joined = append(joined, j)
					}
				}
			}
			if len(joined) == 0 && len(terms) > 0 && sh.problem == "" {
				sh.problem = "its volumes stand where its node selector or affinity does not allow it"
			}
			terms = joined
		}
		sh.req = s.vectorOf(p.Requests)
		for d, driver := range s.attach {
			sh.req[s.firstAttach+d] = needs.attach[driver]
		}
		sh.claims = s.claimUses(p)
	} else {
		sh.req = s.vectorOf(p.Requests)
	}
	for _, d := range p.Devices {
		if dim, ok := s.dimIndex[cluster.DeviceResource(d.Class)]; ok {
			sh.req[dim] += d.Count
		}
	}
	if sh.problem == "" {
		sh.problem = shapeProblem(p, terms)
	}
	ports := make([]cluster.HostPort, 0, len(p.HostPorts))
	for _, hp := range p.HostPorts {
		ports = append(ports, normalPort(hp))
	}
	sh.sig = s.signatureWith(terms, ports, tolers)
	if p.Affinity != nil && p.Affinity.NodeAffinity != nil && !s.p.Options.IgnorePreferences {
		sh.prefs = preferencesOf(p.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	return sh
}

// shapeProblem finds what no node could meet, whatever it is.
func shapeProblem(p *cluster.Pod, terms []term) string {
	if p.Affinity != nil && p.Affinity.NodeAffinity != nil && p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, t := range p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			if len(t.MatchFields) > 0 {
				return "its required node affinity uses matchFields, which tie it to one node by name: use matchExpressions on labels"
			}
		}
	}
	if len(terms) == 0 {
		return "its node selector and required node affinity contradict each other: no node can satisfy both"
	}
	for _, d := range p.Devices {
		if cluster.DeviceResource(d.Class) == "" {
			return "it claims devices of class " + d.Class + ", and which instance types have them is not known: use an extended resource, or a class of nvidia.com, amd.com or neuron"
		}
	}
	return ""
}

func preferencesOf(ps []corev1.PreferredSchedulingTerm) []preference {
	var out []preference
	for _, w := range ps {
		if t, ok := selectorTerm(w.Preference); ok && !t.impossible() {
			out = append(out, preference{w.Weight, t})
		}
	}
	slices.SortStableFunc(out, func(a, b preference) int { return int(b.weight) - int(a.weight) })
	return out
}

// markHard tells the groups that somebody insists on from those that are only
// preferred.
func (s *solver) markHard(shapes []*shape) {
	s.hardGroup = make([]bool, len(s.groups))
	for _, sh := range shapes {
		for _, g := range sh.owned.hard {
			s.hardGroup[g] = true
		}
	}
	for g := range s.standingOwned {
		s.hardGroup[g] = true
	}
}

// classRefs sets a class's part in the groups.
func (s *solver) classRefs(c *class, matched []int32) {
	owned := c.shape.owned
	for _, r := range s.refsOf(owned.hard, matched, c.shape.rep.HostPorts) {
		if r.own || s.hardGroup[r.g] {
			c.hard = append(c.hard, r)
		}
	}
	for _, g := range matched {
		// What others would like to be near has to be somewhere for them to see.
		if s.groups[g].kind == affinity && !s.hardGroup[g] && !slices.ContainsFunc(owned.soft, func(o softGroup) bool { return o.g == g }) {
			c.soft = append(c.soft, softRef{ref{g, false, true}, 0})
		}
	}
	for _, sg := range owned.soft {
		c.soft = append(c.soft, softRef{ref{sg.g, true, slices.Contains(matched, sg.g)}, sg.weight})
	}
}

// podOrder is the pods ordered by namespace and name.
func podOrder(pods []*cluster.Pod) []int32 {
	order := make([]int32, len(pods))
	sorted := true
	for i := range order {
		order[i] = int32(i)
		if i > 0 && comparePods(pods[i-1], pods[i]) > 0 {
			sorted = false
		}
	}
	if !sorted {
		slices.SortFunc(order, func(a, b int32) int { return comparePods(pods[a], pods[b]) })
	}
	return order
}

func comparePods(a, b *cluster.Pod) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	if c := strings.Compare(a.Name, b.Name); c != 0 {
		return c
	}
	return strings.Compare(a.UID, b.UID)
}
