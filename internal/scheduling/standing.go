package scheduling

import (
	"hash/maphash"
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// standingNode is a node that stands, or a claim in flight, with what is left.
type standingNode struct {
	index  int // into Problem.Nodes
	name   string
	labels map[string]string
	taints []corev1.Taint
	kind   int32 // nodes alike in labels and taints, the name aside
	free   vec
	host   hostState
	closed bool
	pods   []int32
	claims map[string]int // uses of volume claims, nil until somebody asks
}

// readStanding compiles the nodes that stand, ordered by name.
func (s *solver) readStanding() {
	nodes := s.p.Nodes
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool {
		x, y := &nodes[order[a]], &nodes[order[b]]
		if x.InFlight != y.InFlight {
			return y.InFlight
		}
		return x.Name < y.Name
	})
	kinds := map[uint64]int32{}
	seed := maphash.MakeSeed()
	s.standing = make([]*standingNode, 0, len(nodes))
	arena := make([]standingNode, len(nodes))
	for k, i := range order {
		n := &nodes[i]
		sn := &arena[k]
		*sn = standingNode{index: i, name: n.Name, labels: n.Labels, taints: n.Taints, closed: n.Closed}
		for d, name := range s.dims {
			sn.free[d] = n.Allocatable.Get(name) - n.Used.Get(name)
		}
		for d, driver := range s.attach {
			sn.free[s.firstAttach+d] = 1 << 30
			if limit, ok := n.VolumeLimits[driver]; ok {
				sn.free[s.firstAttach+d] = limit - s.attached(n, driver)
			}
		}
		h := kindHash(seed, n)
		id, ok := kinds[h]
		if !ok {
			id = int32(len(kinds))
			kinds[h] = id
		}
		sn.kind = id
		s.standing = append(s.standing, sn)
	}
	s.kinds = len(kinds)
}

func kindHash(seed maphash.Seed, n *Standing) uint64 {
	x := shapeHasher{seed: seed}
	x.reset()
	var sum uint64
	for k, v := range n.Labels {
		if k != hostKey {
			p := (maphash.String(seed, k)*31 ^ maphash.String(seed, v)) * 0xff51afd7ed558ccd
			sum += p ^ p>>32
		}
	}
	x.num(sum)
	for i := range n.Taints {
		x.str(n.Taints[i].Key)
		x.str(n.Taints[i].Value)
		x.str(string(n.Taints[i].Effect))
	}
	return x.h
}

// attached counts the volumes of a driver that the node's pods use.
func (s *solver) attached(n *Standing, driver string) int64 {
	count := int64(0)
	seen := map[string]bool{}
	for _, p := range n.Pods {
		for i := range p.Volumes {
			v := &p.Volumes[i]
			id := p.Namespace + "/" + v.Claim
			if v.Claim == "" || v.Ephemeral {
				id = p.Key() + "/" + v.Claim + v.Driver
			}
			if !seen[id] && s.driverOf(p, v) == driver {
				seen[id] = true
				count++
			}
		}
	}
	return count
}

// driverOf is the driver that attaches a volume, "" where it is not known.
func (s *solver) driverOf(p *cluster.Pod, v *cluster.Volume) string {
	d := v.Driver
	class := &v.StorageClass
	if d == "" && !v.Ephemeral {
		pvc := s.p.Volumes.Claims[p.Namespace+"/"+v.Claim]
		if pvc == nil {
			return ""
		}
		if pvc.VolumeName != "" {
			class = nil
			if pv := s.p.Volumes.PVs[pvc.VolumeName]; pv != nil {
				d = pv.Driver
			}
		} else {
			class = pvc.StorageClass
			if class == nil {
				class = new(string)
			}
		}
	}
	if d == "" && class != nil {
		sc := s.p.Volumes.Classes[*class]
		if *class == "" {
			sc = s.defaultClass()
		}
		if sc != nil {
			d = sc.Provisioner
		}
	}
	if d == inTreeEBS {
		return ebsDriver
	}
	return d
}

// standingGroups finds the anti-affinity of pods that stand: it binds new pods.
func (s *solver) standingGroups() {
	s.standingOwned = map[int32]bool{}
	for _, n := range s.standing {
		for _, p := range s.p.Nodes[n.index].Pods {
			for _, g := range s.repelling(p) {
				s.standingOwned[g] = true
			}
		}
	}
}

// countStanding books the pods that stand with every group.
func (s *solver) countStanding() {
	s.tallies = make([]tally, len(s.groups))
	if len(s.groups) == 0 {
		return
	}
	s.markStandingOnly()
	cache := map[uint64][]int32{}
	x := shapeHasher{seed: maphash.MakeSeed()}
	for _, n := range s.standing {
		if s.p.Nodes[n.index].Leaving {
			continue // gone with its pods when the plan is real
		}
		for _, p := range s.p.Nodes[n.index].Pods {
			x.reset()
			x.str(p.Namespace)
			x.pairs(p.Labels)
			match, ok := cache[x.h]
			if !ok {
				match = s.matched(p.Namespace, p.Labels)
				cache[x.h] = match
			}
			if len(match) == 0 && len(p.HostPorts) == 0 && (p.Affinity == nil || p.Affinity.PodAntiAffinity == nil) {
				continue
			}
			for _, r := range s.refsOf(s.repelling(p), match, p.HostPorts) {
				s.bookStanding(n, r, p.Deleting)
			}
			if len(s.shared) > 0 {
				for _, g := range s.claimGroups(p) {
					s.bookStanding(n, ref{g: g, match: true}, p.Deleting)
				}
			}
		}
	}
	s.countStandingDomains()
	s.stood = make([]tally, len(s.tallies))
	for i := range s.tallies {
		s.stood[i] = s.tallies[i].clone()
	}
}

// inDomain lists the nodes that stand by their value for a topology key.
func (s *solver) inDomain(key string) map[string][]*standingNode {
	if m, ok := s.byDomain[key]; ok {
		return m
	}
	m := map[string][]*standingNode{}
	for _, n := range s.standing {
		if name, ok := n.labels[key]; ok && !n.closed {
			m[name] = append(m[name], n)
		}
	}
	s.byDomain[key] = m
	return m
}

// countStandingDomains lets the domains of nodes that stand take part in the
// spread rules that count those nodes. Rules of one key and filter share a look.
func (s *solver) countStandingDomains() {
	type look struct {
		key    string
		filter int32
		taints bool
	}
	found := map[look][]string{}
	for id, g := range s.groups {
		if g.kind != spread || g.host() {
			continue
		}
		k := look{g.key, g.filter, g.honorTaints}
		names, ok := found[k]
		if !ok {
			seen := map[string]bool{}
			passes := make([]int8, s.kinds) // 0: not known
			for _, n := range s.standing {
				name, has := n.labels[g.key]
				if !has || seen[name] {
					continue
				}
				if passes[n.kind] == 0 || g.filter >= 0 && s.byName(g.filter) {
					passes[n.kind] = -1
					if s.passesFilter(n, g) {
						passes[n.kind] = 1
					}
				}
				if passes[n.kind] == 1 {
					seen[name] = true
				}
			}
			names = sortedKeys(seen)
			found[k] = names
		}
		t := &s.tallies[id]
		for _, name := range names {
			t.counted[t.domain(name)] = true
		}
	}
}

func (s *solver) passesFilter(n *standingNode, g *group) bool {
	if s.p.Nodes[n.index].Leaving {
		return false
	}
	if g.filter < 0 {
		return true
	}
	sig := s.sigs[g.filter]
	if g.honorTaints {
		if hard, _ := sig.untolerated(n.taints); hard != nil {
			return false
		}
	}
	return sig.labelsAllow(n.name, n.labels)
}

// bookStanding counts a pod that stands. The scheduler leaves pods that are being
// deleted out of spread rules, but not out of affinity.
func (s *solver) bookStanding(n *standingNode, r ref, deleting bool) {
	g := s.groups[r.g]
	if g.kind == spread && deleting {
		return
	}
	var own, cnt int32
	if r.own {
		own = 1
	}
	if r.match && (g.kind != spread || s.passesFilter(n, g)) {
		cnt = 1
	}
	if own == 0 && cnt == 0 {
		return
	}
	if g.host() {
		n.host = n.host.with([]hostPart{{r.g, own, cnt}}, 1)
		s.tallies[r.g].total += cnt
		return
	}
	if name, ok := n.labels[g.key]; ok {
		t := &s.tallies[r.g]
		t.add(t.domain(name), cnt, own)
	}
}

// nodeAllows tells whether a node's labels and taints suit a signature.
func (s *solver) nodeAllows(n *standingNode, sig int32) bool {
	id := uint64(sig)<<32 | uint64(n.kind)
	if ok, known := s.allows[id]; known && !s.byName(sig) {
		return ok
	}
	g := s.sigs[sig]
	hard, _ := g.untolerated(n.taints)
	ok := hard == nil && g.labelsAllow(n.name, n.labels)
	s.allows[id] = ok
	return ok
}

// byName tells whether a signature asks for a node by its name, in which nodes
// of a kind differ.
func (s *solver) byName(sig int32) bool {
	for _, t := range s.sigs[sig].terms {
		for _, kv := range t {
			if kv.key == hostKey || kv.key == "metadata.name" {
				return true
			}
		}
	}
	return false
}

// fillStanding puts items on the nodes that stand, larger items first, each on
// the first nodes that admit it. Nodes with a PreferNoSchedule taint come last.
func (s *solver) fillStanding() {
	open := make([]*standingNode, 0, len(s.standing))
	for _, n := range s.standing {
		if !n.closed {
			open = append(open, n)
		}
	}
	for _, it := range s.items {
		if it.n == 0 || len(open) == 0 {
			continue
		}
		if len(it.soft) > 0 && it.n <= wishUnits && len(open) <= wishNodes {
			s.offerWishes(open, it)
			open = s.stillOpen(open)
			continue
		}
		for pass := 0; pass < 2 && it.n > 0; pass++ {
			for _, n := range open {
				if it.n == 0 {
					break
				}
				s.offer(n, it, pass == 1)
			}
		}
		open = s.stillOpen(open)
	}
}

func (s *solver) offer(n *standingNode, it *item, soft bool) {
	k := it.req.times(&n.free, s.nd)
	if k == 0 || !s.nodeAllows(n, it.sig) {
		return
	}
	if !soft && len(n.taints) > 0 {
		if _, w := s.sigs[it.sig].untolerated(n.taints); w {
			return
		}
	}
	k = min(k, it.n, s.hostCap(n.host, it.host))
	if k > 0 {
		s.land(n, it, k)
	}
}

// land puts units of an item on a standing node.
func (s *solver) land(n *standingNode, it *item, k int64) {
	n.free.subTimes(&it.req, k, s.nd)
	n.host = n.host.with(it.host, int32(k))
	n.pods = append(n.pods, it.take(k)...)
	s.countHosts(it, k)
}

// countHosts keeps the totals of the rules of the node.
func (s *solver) countHosts(it *item, k int64) {
	for _, h := range it.host {
		s.tallies[h.g].total += h.cnt * int32(k)
	}
}

// stillOpen drops the nodes that cannot hold the least of what is left.
func (s *solver) stillOpen(open []*standingNode) []*standingNode {
	var least vec
	first := true
	for _, it := range s.items {
		if it.n == 0 {
			continue
		}
		for d := 0; d < s.nd; d++ {
			if first || it.req[d] < least[d] {
				least[d] = it.req[d]
			}
		}
		first = false
	}
	if first {
		return nil
	}
	return slices.DeleteFunc(open, func(n *standingNode) bool { return !least.within(&n.free, s.nd) })
}

func (v *vec) subTimes(o *vec, n int64, nd int) {
	for d := 0; d < nd; d++ {
		v[d] -= o[d] * n
	}
}
