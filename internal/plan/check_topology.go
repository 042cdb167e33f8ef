package plan

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// topology is the check of the rules by which pods spread, keep together and keep
// apart.
//
// A new node that may be launched in several zones, or otherwise with several
// values of a key, is in none of them for certain. The nodes' launches do not
// know of each other, so a rule is broken when there is any way to choose for
// each node one of its values such that a pod would not be admitted. For one rule
// that worst case can be found exactly, since a node's choice matters only by the
// domain that it is in.
type topology struct {
	c      *checker
	spaces map[string]map[string]string // namespace → labels

	keys     []string // topology keys, the first is the hostname
	keyIndex map[string]int32

	matchers     []*matcher
	matcherIndex map[string]int32
	anchors      []anchor
	adrift       []int32 // matchers that no label value leads to

	pods    []stagedPod
	planned int // how many of pods, the first, the plan places

	frames     []*frame
	frameIndex map[string]*frame

	spreads   []*spreadRule
	spreadIDs map[string]int32
	apart     []*apartRule
	apartIDs  map[apartKey]int32
	together  []*togetherRule
	groupIDs  map[string]int32

	kinds   []kind
	kindOf  []int32     // of each site
	domains [][]domains // by key, then by kind

	buf []byte
}

// stagedPod is a pod on its site.
type stagedPod struct {
	pod     *cluster.Pod
	site    int32
	planned bool // the plan puts it there
}

// hostKey is the place of the hostname among the keys.
const hostKey = int32(0)

// checkTopology checks the topology rules of the pods that the plan places, and
// the anti-affinity of those that run against them.
func (c *checker) checkTopology() {
	t := &topology{c: c, keys: []string{cluster.LabelHostname}, keyIndex: map[string]int32{cluster.LabelHostname: hostKey},
		matcherIndex: map[string]int32{}, frameIndex: map[string]*frame{}, spreadIDs: map[string]int32{}, apartIDs: map[apartKey]int32{}, groupIDs: map[string]int32{}}
	t.stage()
	if len(t.spreads)+len(t.apart)+len(t.together) == 0 {
		return
	}
	t.spaces = make(map[string]map[string]string, len(c.snap.Namespaces))
	for i := range c.snap.Namespaces {
		t.spaces[c.snap.Namespaces[i].Name] = c.snap.Namespaces[i].Labels
	}
	t.stageBound()
	t.stageDaemons()
	t.sortSites()
	t.findHits()
	for _, r := range t.spreads {
		t.checkSpread(r)
	}
	for _, r := range t.apart {
		t.checkApart(r)
	}
	t.checkTogether()
}

// stage puts the placed pods on their sites and reads their rules, and the rules
// of the running pods that could keep them off.
func (t *topology) stage() {
	for k, s := range t.c.sites {
		for _, p := range s.pods {
			id := int32(len(t.pods))
			t.pods = append(t.pods, stagedPod{p, int32(k), true})
			t.readRules(p, id)
		}
	}
	t.planned = len(t.pods)
	if t.planned == 0 {
		return
	}
	for i, k := range t.c.boundTo {
		if k < 0 {
			continue
		}
		if p := &t.c.snap.Pods[i]; len(requiredApart(p)) > 0 {
			id := int32(len(t.pods))
			t.pods = append(t.pods, stagedPod{p, k, false})
			t.readApart(p, id)
		}
	}
}

// stageBound puts the other running pods on their sites.
func (t *topology) stageBound() {
	for i, k := range t.c.boundTo {
		if k < 0 {
			continue
		}
		if p := &t.c.snap.Pods[i]; len(requiredApart(p)) == 0 {
			t.pods = append(t.pods, stagedPod{p, k, false})
		}
	}
}

// readRules reads the hard topology rules of a placed pod.
func (t *topology) readRules(p *cluster.Pod, id int32) {
	for i := range p.Spread {
		if p.Spread[i].WhenUnsatisfiable == corev1.DoNotSchedule {
			t.readSpread(p, id, &p.Spread[i])
		}
	}
	if p.Affinity == nil {
		return
	}
	if p.Affinity.PodAffinity != nil && len(p.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
		t.readTogether(p, id, p.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	t.readApart(p, id)
}

func requiredApart(p *cluster.Pod) []corev1.PodAffinityTerm {
	if p.Affinity == nil || p.Affinity.PodAntiAffinity == nil {
		return nil
	}
	return p.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// key numbers a topology key.
func (t *topology) key(name string) int32 {
	name = cluster.NormalLabel(name)
	id, ok := t.keyIndex[name]
	if !ok {
		id = int32(len(t.keys))
		t.keyIndex[name] = id
		t.keys = append(t.keys, name)
	}
	return id
}

// domainName is a domain for messages.
func (t *topology) domainName(key, d int32) string {
	if key == hostKey {
		return t.c.sites[d].name
	}
	return t.c.values[d]
}

// stageDaemons adds the pods that daemons are to run, where a rule is about them
// and it is certain that they will.
func (t *topology) stageDaemons() {
	var wanted []int
	for i, d := range t.c.daemons {
		found := false
		t.eachMatcher(d.spec.Namespace, d.spec.Template.Labels, func(m *matcher) {
			m.daemons = append(m.daemons, i)
			found = true
		})
		if found {
			wanted = append(wanted, i)
		}
	}
	if len(wanted) == 0 {
		return
	}
	pods := make([]*cluster.Pod, len(t.c.daemons))
	for _, i := range wanted {
		p := t.c.daemons[i].spec.Template
		p.Namespace, p.Name = t.c.daemons[i].spec.Namespace, "(daemon) "+t.c.daemons[i].spec.Name
		pods[i] = &p
	}
	running := t.runningDaemons()
	for k, s := range t.c.sites {
		for _, i := range wanted {
			if !running[daemonAt{int32(k), t.c.daemons[i].spec.Namespace, t.c.daemons[i].spec.Name}] && t.surelyRuns(s, i) {
				t.pods = append(t.pods, stagedPod{pods[i], int32(k), false})
			}
		}
	}
}

type daemonAt struct {
	site            int32
	namespace, name string
}

func (t *topology) runningDaemons() map[daemonAt]bool {
	out := map[daemonAt]bool{}
	for i, k := range t.c.boundTo {
		if p := &t.c.snap.Pods[i]; k >= 0 && p.Owner.Kind == "DaemonSet" {
			out[daemonAt{k, p.Namespace, p.Owner.Name}] = true
		}
	}
	return out
}

// surelyRuns tells whether a daemon runs on a node whatever it is launched as.
func (t *topology) surelyRuns(s *site, i int) bool {
	d := t.c.daemons[i]
	if s.plan == nil {
		return daemonTolerates(s.taints, d.spec.Template.Tolerations) && t.c.selectors[d.selector].matches(s)
	}
	return s.choice != nil && s.choice.t.runs[i] && t.c.fitsChoice(s.choice, d.selector) == fitAll
}

// perhapsRuns tells whether one of some daemons runs on some offers of a choice
// and not on others.
func (t *topology) perhapsRuns(ch *choice, daemons []int) bool {
	for _, i := range daemons {
		if ch.t.runs[i] && t.c.fitsChoice(ch, t.c.daemons[i].selector) == fitSome {
			return true
		}
	}
	return false
}

// kind is what sites have in common that no topology rule can tell apart, but for
// their names and pods.
type kind struct {
	choice *choice // of new nodes
	site   *site   // one of them
	first  int32   // its place
	count  int32
}

// sortSites finds the kinds of sites. What rules look at is the topology keys,
// the labels of the selectors that decide which nodes a spread counts, and
// taints.
func (t *topology) sortSites() {
	keys := slices.Clone(t.keys[1:])
	named := false
	for _, f := range t.frames {
		if f.filter >= 0 {
			keys = append(keys, t.c.selectors[f.filter].keys...)
			named = named || t.c.selectors[f.filter].byName
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	index := map[string]int32{}
	t.kindOf = make([]int32, len(t.c.sites))
	byChoice := make([]int32, len(t.c.choices)) // the kind and one
	for k, s := range t.c.sites {
		if s.choice != nil {
			if byChoice[s.choice.id] == 0 {
				byChoice[s.choice.id] = t.addKind(s, int32(k)) + 1
			}
			t.kindOf[k] = byChoice[s.choice.id] - 1
		} else {
			t.buf = t.appendKind(t.buf[:0], s, keys, named)
			id, ok := index[string(t.buf)]
			if !ok {
				id = t.addKind(s, int32(k))
				index[string(t.buf)] = id
			}
			t.kindOf[k] = id
		}
		t.kinds[t.kindOf[k]].count++
	}
	t.domains = make([][]domains, len(t.keys))
}

func (t *topology) addKind(s *site, k int32) int32 {
	t.kinds = append(t.kinds, kind{choice: s.choice, site: s, first: k})
	return int32(len(t.kinds) - 1)
}

func (t *topology) appendKind(b []byte, s *site, keys []string, named bool) []byte {
	if named {
		b = appendText(b, s.name)
	}
	if s.plan != nil { // a new node that is nothing
		return append(b, '?')
	}
	for _, key := range keys {
		if v, ok := s.label(key); ok {
			b = append(b, '=')
			b = appendText(b, v)
		} else {
			b = append(b, '-')
		}
	}
	for i := range s.taints {
		x := &s.taints[i]
		b = appendText(appendText(appendText(b, x.Key), x.Value), string(x.Effect))
	}
	return append(b, strconv.Itoa(len(s.taints))...)
}
