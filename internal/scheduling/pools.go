package scheduling

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// pool is a NodePool compiled against its universe.
type pool struct {
	index  int // in solver.pools: the heaviest first
	source int // index into Problem.Pools
	spec   *cluster.NodePool
	u      *universe
	base   bitset // columns that the pool's requirements leave
	// free keys are labels that the pool, not the type, gives to nodes; freeBase
	// is what the pool leaves open for each.
	freeKeys []string
	freeBase []values
	taints   []corev1.Taint
	// daemons[t] is what the DaemonSets take on a node of type t, and room[t]
	// what is left for pods.
	daemons []vec
	room    []vec
	// portDaemons are the daemons that take ports of the host.
	portDaemons []portDaemon
	// minValues of the requirements, by key.
	minValues []minValue
	// left is what the limits still allow; present where limited.
	limits []limit
	sized  []int32 // columns by what they count against the limits
}

// portDaemon is a daemon's host ports and the columns on which it runs.
type portDaemon struct {
	ports []cluster.HostPort
	cols  bitset
}

type minValue struct {
	key string
	n   int
}

// limit is a NodePool limit on one resource of a node's capacity.
type limit struct {
	name string
	max  int64
	used int64
	cap  []int64 // by type: what one node counts
}

// compilePool reads a pool's requirements, taints and limits.
func (s *solver) compilePool(index int, p *Pool, u *universe) *pool {
	np := p.Spec
	out := &pool{index: index, spec: np, u: u, taints: np.Taints}
	out.base = newBitset(len(u.cols))
	out.base.setRange(0, len(u.cols))
	free := map[string]values{
		cluster.LabelNodePool:  oneOf(np.Name),
		cluster.LabelNodeClass: oneOf(np.NodeClass.Name),
	}
	restrict := func(key string, v values) {
		if u.describes(key) {
			out.base.andWith(u.allowed(key, v))
			return
		}
		if old, ok := free[key]; ok {
			v = old.and(v)
		}
		free[key] = v
	}
	for _, k := range sortedKeys(np.Labels) {
		restrict(requirementKey(k), oneOf(np.Labels[k]))
	}
	for _, r := range np.Requirements {
		restrict(requirementKey(r.Key), valuesOf(r.Operator, r.Values))
		if r.MinValues > 0 {
			out.minValues = append(out.minValues, minValue{requirementKey(r.Key), r.MinValues})
		}
	}
	for _, k := range sortedKeys(free) {
		out.freeKeys = append(out.freeKeys, k)
		out.freeBase = append(out.freeBase, free[k])
		if free[k].empty() {
			out.base = newBitset(len(u.cols))
		}
	}
	out.compileDaemons(s, p.Daemons)
	for _, l := range np.Limits {
		out.limits = append(out.limits, limit{name: l.Name, max: l.Amount, used: p.InUse.Get(l.Name), cap: limitCaps(u, l.Name)})
	}
	return out
}

// limitCaps is what a node of each type counts against a limit.
func limitCaps(u *universe, name string) []int64 {
	out := make([]int64, len(u.types))
	for t := range u.types {
		if name == cluster.Nodes {
			out[t] = 1
		} else {
			out[t] = u.types[t].Capacity.Get(name)
		}
	}
	return out
}

// compileDaemons sums, for each type, the DaemonSets that would run there: those
// that tolerate the template's taints and whose required node affinity a node
// of that type can meet. Startup taints do not matter: they go.
func (p *pool) compileDaemons(s *solver, daemons []*cluster.DaemonSet) {
	u := p.u
	p.daemons = make([]vec, len(u.types))
	p.room = make([]vec, len(u.types))
	for t := range u.types {
		for d, name := range s.dims {
			p.room[t][d] = u.types[t].Allocatable.Get(name)
		}
		for d, driver := range s.attach {
			p.room[t][s.firstAttach+d] = typeVolumeLimit(&u.types[t], driver)
		}
	}
	for _, ds := range daemons {
		pod := &ds.Template
		sig := s.signatureOf(podTerms(pod), canonicalTolerations(pod.Tolerations))
		hard, _ := untolerated(p.taints, s.sigs[sig].tolers)
		if hard != nil {
			continue
		}
		req := s.vectorOf(pod.Requests)
		if len(pod.Volumes) > 0 {
			attach := s.volumesOf(pod).attach
			for d, driver := range s.attach {
				req[s.firstAttach+d] = attach[driver]
			}
		}
		cols := p.termColumns(s.sigs[sig])
		if len(pod.HostPorts) > 0 {
			p.portDaemons = append(p.portDaemons, portDaemon{pod.HostPorts, cols})
		}
		for t := range u.types {
			any := false
			for c := u.first[t]; c < u.first[t+1] && !any; c++ {
				any = cols.has(int(c))
			}
			if any {
				p.daemons[t].add(&req, s.nd)
			}
		}
	}
	for t := range u.types {
		p.room[t].sub(&p.daemons[t], s.nd)
	}
}

// termColumns is the union over a signature's terms of the columns that could
// meet it, free keys considered.
func (p *pool) termColumns(sig *signature) bitset {
	all := newBitset(len(p.u.cols))
	for _, t := range sig.terms {
		if cols, _, why := p.meet(t); why == "" {
			all.orWith(cols)
		}
	}
	return all
}

// meet intersects a term with the pool: the columns left and what becomes of
// the free keys (nil where nothing narrows). why names the key that rules the
// pool out.
func (p *pool) meet(t term) (cols bitset, free []values, why string) {
	cols = p.base
	owned := false
	for _, kv := range t {
		if p.u.describes(kv.key) {
			if !owned {
				cols, owned = cols.clone(), true
			}
			cols.andWith(p.u.allowed(kv.key, kv.v))
			continue
		}
		i, found := slices.BinarySearch(p.freeKeys, kv.key)
		if !found {
			if !kv.v.absent {
				return nil, nil, kv.key
			}
			continue
		}
		j := p.freeBase[i].and(kv.v)
		if j.empty() {
			return nil, nil, kv.key
		}
		if free == nil {
			free = slices.Clone(p.freeBase)
		}
		free[i] = j
	}
	return cols, free, ""
}

// fit is how a signature and a pool go together.
type fit struct {
	ok    bool
	cols  bitset   // columns of the pool that the signature allows
	reach bitset   // those that it allows by any term, nil until asked for
	free  []values // narrowed free keys, nil when the pool's own
	soft  bool     // a PreferNoSchedule taint is not tolerated
	taint *corev1.Taint
	key   string // the label that rules the pool out
}

// fitOf computes a fit once.
func (s *solver) fitOf(sig int32, p *pool) *fit {
	for int(sig) >= len(s.fits) {
		s.fits = append(s.fits, make([]*fit, len(s.pools)))
	}
	if s.fits[sig] == nil {
		s.fits[sig] = make([]*fit, len(s.pools))
	}
	if f := s.fits[sig][p.index]; f != nil {
		return f
	}
	f := s.computeFit(s.sigs[sig], p)
	s.fits[sig][p.index] = f
	return f
}

// reach is the columns that a signature may use by any of its terms, nil for none:
// a fit has those of the terms that agree in the pool's own labels alone.
func (s *solver) reach(sig int32, p *pool) bitset {
	f := s.fitOf(sig, p)
	g := s.sigs[sig]
	if len(g.terms) < 2 || !f.ok {
		if !f.ok {
			return nil
		}
		return f.cols
	}
	if f.reach == nil {
		f.reach = f.cols.clone()
		for _, t := range g.terms {
			if o := s.fitOf(s.signatureWith([]term{t}, g.ports, g.tolers, g.more...), p); o.ok {
				f.reach.orWith(o.cols)
			}
		}
	}
	return f.reach
}

func (s *solver) computeFit(g *signature, p *pool) *fit {
	f := &fit{}
	f.taint, f.soft = g.untolerated(p.taints)
	if f.taint != nil {
		return f
	}
	// Terms that ask the same of the free keys are one choice: any column of
	// their union meets one of them. Where they differ the first that leaves
	// columns is taken; strays tries the others.
	var chosen string
	for _, t := range g.terms {
		cols, free, why := p.meet(t)
		if why != "" {
			if f.key == "" {
				f.key = why
			}
			continue
		}
		if len(g.ports) > 0 {
			cols = p.withoutClashes(g.ports, cols)
		}
		if cols.empty() {
			continue
		}
		k := freeKey(free)
		switch {
		case !f.ok:
			f.ok, f.cols, f.free, chosen = true, cols.clone(), free, k
		case k == chosen:
			f.cols.orWith(cols)
		}
	}
	return f
}

// withoutClashes takes out the columns whose daemons have a port that the
// signature's pods need.
func (p *pool) withoutClashes(ports []cluster.HostPort, cols bitset) bitset {
	owned := false
	for _, d := range p.portDaemons {
		clash := slices.ContainsFunc(d.ports, func(a cluster.HostPort) bool {
			return slices.ContainsFunc(ports, func(b cluster.HostPort) bool { return portsClash(normalPort(a), b) })
		})
		if !clash {
			continue
		}
		if !owned {
			cols, owned = cols.clone(), true
		}
		for w := range cols {
			cols[w] &^= d.cols[w]
		}
	}
	return cols
}

func freeKey(free []values) string {
	if free == nil {
		return ""
	}
	var b strings.Builder
	for i := range free {
		b.WriteString(free[i].key())
		b.WriteByte('\n')
	}
	return b.String()
}
