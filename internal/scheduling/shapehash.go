package scheduling

import (
	"hash/maphash"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// shapeHasher hashes what a pod asks for, so that pods alike are found in one
// look-up. The seed differs from process to process; hashes only ever decide
// whether two pods are the same (64 bits: a false match among 100,000 shapes
// has a probability of about 3e-10), never an order.
type shapeHasher struct {
	seed maphash.Seed
	h    uint64
}

func (x *shapeHasher) reset() { x.h = 0x9e3779b97f4a7c15 }

func (x *shapeHasher) num(n uint64) {
	h := (x.h ^ n) * 0xff51afd7ed558ccd
	x.h = h ^ h>>29
}

func (x *shapeHasher) str(s string) { x.num(maphash.String(x.seed, s)) }

// pairs hashes a map whatever its order.
func (x *shapeHasher) pairs(m map[string]string) {
	x.num(uint64(len(m)))
	if len(m) > 0 {
		x.num(pairsHash(x.seed, m))
	}
}

func pairsHash(seed maphash.Seed, m map[string]string) uint64 {
	var sum uint64
	for k, v := range m {
		p := (maphash.String(seed, k)*31 ^ maphash.String(seed, v)) * 0xff51afd7ed558ccd
		sum += p ^ p>>32
	}
	return sum
}

// pod hashes everything that decides where a pod may go, its labels excepted.
func (x *shapeHasher) pod(p *cluster.Pod) uint64 {
	x.reset()
	for i := range p.Requests {
		x.str(p.Requests[i].Name)
		x.num(uint64(p.Requests[i].Amount))
	}
	x.num(uint64(uint32(p.Priority)))
	x.pairs(p.NodeSelector)
	x.num(uint64(len(p.Tolerations)))
	for i := range p.Tolerations {
		t := &p.Tolerations[i]
		x.str(t.Key)
		x.str(string(t.Operator))
		x.str(t.Value)
		x.str(string(t.Effect))
	}
	if p.Affinity != nil {
		x.affinity(p.Affinity)
	}
	x.num(uint64(len(p.Spread)))
	for i := range p.Spread {
		x.spread(&p.Spread[i])
	}
	x.num(uint64(len(p.HostPorts)))
	for i := range p.HostPorts {
		x.str(p.HostPorts[i].IP)
		x.str(string(p.HostPorts[i].Protocol))
		x.num(uint64(p.HostPorts[i].Port))
	}
	x.num(uint64(len(p.Volumes)))
	for i := range p.Volumes {
		v := &p.Volumes[i]
		x.str(v.Claim)
		x.str(v.StorageClass)
		x.str(v.Driver)
		if v.Ephemeral {
			x.num(1)
		}
	}
	for i := range p.Devices {
		x.str(p.Devices[i].Class)
		x.num(uint64(p.Devices[i].Count))
	}
	if p.Virtual {
		x.num(2)
	}
	if len(p.Spread) > 0 || len(p.Volumes) > 0 || p.Affinity != nil {
		x.str(p.Namespace)
	}
	return x.h
}

func (x *shapeHasher) affinity(a *corev1.Affinity) {
	if n := a.NodeAffinity; n != nil {
		if r := n.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
			x.num(3)
			for i := range r.NodeSelectorTerms {
				x.nodeTerm(&r.NodeSelectorTerms[i])
			}
		}
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			w := &n.PreferredDuringSchedulingIgnoredDuringExecution[i]
			x.num(uint64(w.Weight))
			x.nodeTerm(&w.Preference)
		}
	}
	if pa := a.PodAffinity; pa != nil {
		x.num(4)
		x.podTerms(pa.RequiredDuringSchedulingIgnoredDuringExecution, pa.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if pa := a.PodAntiAffinity; pa != nil {
		x.num(5)
		x.podTerms(pa.RequiredDuringSchedulingIgnoredDuringExecution, pa.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func (x *shapeHasher) nodeTerm(t *corev1.NodeSelectorTerm) {
	x.num(6)
	for _, es := range [2][]corev1.NodeSelectorRequirement{t.MatchExpressions, t.MatchFields} {
		x.num(uint64(len(es)))
		for i := range es {
			x.str(es[i].Key)
			x.str(string(es[i].Operator))
			x.strs(es[i].Values)
		}
	}
}

func (x *shapeHasher) strs(vs []string) {
	x.num(uint64(len(vs)))
	for _, v := range vs {
		x.str(v)
	}
}

func (x *shapeHasher) podTerms(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
	for i := range required {
		x.podTerm(&required[i])
	}
	for i := range preferred {
		x.num(uint64(preferred[i].Weight))
		x.podTerm(&preferred[i].PodAffinityTerm)
	}
}

func (x *shapeHasher) podTerm(t *corev1.PodAffinityTerm) {
	x.num(7)
	x.str(t.TopologyKey)
	x.strs(t.Namespaces)
	x.selector(t.LabelSelector)
	if t.NamespaceSelector != nil {
		x.num(8)
		x.selector(t.NamespaceSelector)
	}
}

func (x *shapeHasher) selector(s *cluster.Selector) {
	if s == nil {
		x.num(9)
		return
	}
	x.pairs(s.MatchLabels)
	x.num(uint64(len(s.MatchExpressions)))
	for i := range s.MatchExpressions {
		e := &s.MatchExpressions[i]
		x.str(e.Key)
		x.str(string(e.Operator))
		x.strs(e.Values)
	}
}

func (x *shapeHasher) spread(c *corev1.TopologySpreadConstraint) {
	x.num(uint64(c.MaxSkew))
	x.str(c.TopologyKey)
	x.str(string(c.WhenUnsatisfiable))
	x.selector(c.LabelSelector)
	if c.MinDomains != nil {
		x.num(uint64(*c.MinDomains))
	}
	if c.NodeAffinityPolicy != nil {
		x.str(string(*c.NodeAffinityPolicy))
	}
	if c.NodeTaintsPolicy != nil {
		x.str("t" + string(*c.NodeTaintsPolicy))
	}
}
