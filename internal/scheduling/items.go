package scheduling

import (
	"slices"
	"sort"
)

const hostKey = "kubernetes.io/hostname"

// item is what packing places: a pod of a part, or a bundle of pods that must
// share a node, and how many there are of it.
type item struct {
	id      int
	members []member
	sig     int32
	req     vec // of one unit; the pods dimension counts its pods
	n       int64
	host    []hostPart
	// selfCap is how many units a node may hold by the item's own rules.
	selfCap   int64
	soft      []hostWish
	softCap   int64 // units that a node had better not pass, 0 for no wish; set between runs
	priority  int32
	why       string
	value     float64 // USD an hour that a unit is worth, set by weigh
	value0    float64 // the same at the beginning of packing
	shape     int32   // items with the same req share it
	exotic    bool    // only exotic types can hold it
	hostClass int32   // items with the same part in the rules of the node
	columns   int     // how many columns it may use: its freedom
	waits     bool    // an affinity to the node: what cannot join now may join later
}

// member is the pods that a unit takes from one part.
type member struct {
	c    *class
	pods []int32
	per  int64
}

// take removes k units and returns their pods.
func (it *item) take(k int64) []int32 {
	var out []int32
	for i := range it.members {
		m := &it.members[i]
		n := k * m.per
		out = append(out, m.pods[:n]...)
		m.pods = m.pods[n:]
	}
	it.n -= k
	return out
}

// hostParts is a class's part in the rules of the node.
func (s *solver) hostParts(c *class, per int32) []hostPart {
	var out []hostPart
	for _, r := range c.hard {
		if s.groups[r.g].key != hostKey {
			continue
		}
		p := hostPart{g: r.g}
		if r.own {
			p.own = per
		}
		if r.match {
			p.cnt = per
		}
		out = append(out, p)
	}
	return out
}

// makeItems turns parts into items. Pods that must share a node become bundles.
func (s *solver) makeItems(parts []part) {
	bundled := s.bundles(parts)
	for i := range parts {
		p := &parts[i]
		if p.sig < 0 {
			s.stray(p.c, p.pods)
			continue
		}
		if bundled[i] || len(p.pods) == 0 {
			continue
		}
		s.addItem(&item{members: []member{{p.c, p.pods, 1}}, sig: p.sig, req: p.c.req, n: int64(len(p.pods)),
			host: s.hostParts(p.c, 1), soft: s.hostWishes(p.c), priority: p.c.shape.priority, why: p.why})
	}
	sort.SliceStable(s.items, func(i, j int) bool { return s.itemLess(s.items[i], s.items[j]) })
	shapes := map[vec]int32{}
	hosts := map[string]int32{}
	for i, it := range s.items {
		it.id = i
		id, ok := shapes[it.req]
		if !ok {
			id = int32(len(shapes))
			shapes[it.req] = id
		}
		it.shape = id
		hk := hostStateKey(it.host)
		hc, ok := hosts[hk]
		if !ok {
			hc = int32(len(hosts))
			hosts[hk] = hc
		}
		it.hostClass = hc
		it.waits = s.waitsForHost(it)
	}
	s.hostClasses = len(hosts)
}

func hostStateKey(h []hostPart) string {
	ids := make([]int32, 0, 3*len(h))
	for _, p := range h {
		ids = append(ids, p.g, p.own, p.cnt)
	}
	return int32Key(ids)
}

// waitsForHost tells whether an item wants something on its node that it does
// not bring: what cannot join a load now may join it later.
func (s *solver) waitsForHost(it *item) bool {
	for _, p := range it.host {
		if p.own > 0 && s.groups[p.g].kind == affinity {
			return true
		}
	}
	return false
}

func (s *solver) addItem(it *item) {
	it.selfCap = s.hostCap(nil, it.host)
	s.items = append(s.items, it)
}

// itemLess orders items: by priority, larger first, then by their first pod,
// which no other item has.
func (s *solver) itemLess(a, b *item) bool {
	if a.priority != b.priority {
		return a.priority > b.priority
	}
	if sa, sb := s.bulk(&a.req), s.bulk(&b.req); sa != sb {
		return sa > sb
	}
	return a.members[0].pods[0] != b.members[0].pods[0] && s.rank[a.members[0].pods[0]] < s.rank[b.members[0].pods[0]]
}

// bulk measures a request against all requests, so that no unit counts more
// than another.
func (s *solver) bulk(v *vec) float64 {
	b := 0.0
	for d := 0; d < s.nd; d++ {
		if s.demand[d] > 0 {
			b += float64(v[d]) / float64(s.demand[d])
		}
	}
	return b
}

// bundles joins the parts that an affinity to the node ties together, where no
// pod that they want to be near stands yet. It returns which parts it used up.
func (s *solver) bundles(parts []part) []bool {
	used := make([]bool, len(parts))
	var linked []int
	parent := make([]int, len(parts))
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			i = parent[i]
		}
		return i
	}
	byGroup := map[int32][]int{}
	for i := range parts {
		for _, r := range parts[i].c.hard {
			if g := s.groups[r.g]; g.kind == affinity && g.key == hostKey && s.tallies[r.g].total == 0 && parts[i].sig >= 0 {
				byGroup[r.g] = append(byGroup[r.g], i)
			}
		}
	}
	if len(byGroup) == 0 {
		return used
	}
	groups := make([]int32, 0, len(byGroup))
	for g := range byGroup {
		groups = append(groups, g)
	}
	slices.Sort(groups)
	for _, g := range groups {
		for _, i := range byGroup[g][1:] {
			if a, b := find(byGroup[g][0]), find(i); a != b {
				parent[max(a, b)] = min(a, b)
			}
		}
		linked = append(linked, byGroup[g]...)
	}
	slices.Sort(linked)
	comps := map[int][]int{}
	var roots []int
	for _, i := range slices.Compact(linked) {
		r := find(i)
		if comps[r] == nil {
			roots = append(roots, r)
		}
		comps[r] = append(comps[r], i)
	}
	slices.Sort(roots)
	for _, r := range roots {
		s.bundle(parts, comps[r])
		for _, i := range comps[r] {
			used[i] = true
		}
	}
	return used
}

// bundle makes the units of one component: one for each pod that others want to
// be near, with an even share of those; one for all where there is none such.
func (s *solver) bundle(parts []part, comp []int) {
	owns := func(i int) bool {
		return slices.ContainsFunc(parts[i].c.hard, func(r ref) bool {
			return r.own && s.groups[r.g].kind == affinity && s.groups[r.g].key == hostKey
		})
	}
	var anchors, followers []int
	for _, i := range comp {
		if owns(i) {
			followers = append(followers, i)
		} else {
			anchors = append(anchors, i)
		}
	}
	units := 0
	for _, a := range anchors {
		units += len(parts[a].pods)
	}
	if units == 0 {
		s.unit(parts, followers, -1, 1, func(i int) int { return len(parts[i].pods) })
		return
	}
	// Consecutive units with the same shares are one item. Units use their pods up,
	// so the shares are those of what there was at the beginning.
	all := make(map[int]int, len(followers))
	for _, i := range followers {
		all[i] = len(parts[i].pods)
	}
	share := func(i, u int) int { return all[i]*(u+1)/units - all[i]*u/units }
	u := 0
	for _, a := range anchors {
		end := u + len(parts[a].pods)
		for u < end {
			run := u + 1
			for run < end && sameShares(followers, share, u, run) {
				run++
			}
			at := u
			s.unit(parts, followers, a, run-u, func(i int) int { return share(i, at) })
			u = run
		}
	}
}

func sameShares(fs []int, share func(i, u int) int, a, b int) bool {
	for _, i := range fs {
		if share(i, a) != share(i, b) {
			return false
		}
	}
	return true
}

// unit makes an item of n bundles: one pod of the anchor (-1: none) and per(i) of
// each follower. Followers that no node could hold beside the rest are strays.
func (s *solver) unit(parts []part, followers []int, anchor, n int, per func(i int) int) {
	it := &item{n: int64(n), sig: -1}
	add := func(i, k int) {
		p := &parts[i]
		sig := p.sig
		if it.sig >= 0 {
			sig = s.joined(it.sig, p.sig)
		}
		if room := s.hostCap(it.host, s.hostParts(p.c, 1)); int64(k) > room {
			k = int(room) // rules of the node among the pods themselves
		}
		for k > 0 {
			req := it.req
			req.addTimes(&p.c.req, int64(k), s.nd)
			if s.someNodeHolds(&req, sig) || len(it.members) == 0 && k == 1 {
				it.req, it.sig = req, sig
				it.members = append(it.members, member{p.c, p.pods[:k*n], int64(k)})
				for _, h := range s.hostParts(p.c, int32(k)) {
					it.host = hostState(it.host).with([]hostPart{h}, 1)
				}
				it.priority = max(it.priority, p.c.shape.priority)
				it.why = joinWhy(it.why, p.why)
				break
			}
			k--
		}
		p.pods = p.pods[k*n:]
	}
	take := func(i, k int) {
		want, before := k*n, len(parts[i].pods)
		if k > 0 {
			add(i, k)
		}
		if taken := before - len(parts[i].pods); taken < want {
			s.stray(parts[i].c, parts[i].pods[:want-taken])
			parts[i].pods = parts[i].pods[want-taken:]
		}
	}
	if anchor >= 0 {
		take(anchor, 1)
	}
	for _, i := range followers {
		take(i, per(i))
	}
	if len(it.members) > 0 {
		s.addItem(it)
	}
}

// someNodeHolds tells whether a new node of any pool could hold a request.
func (s *solver) someNodeHolds(req *vec, sig int32) bool {
	for _, pl := range s.pools {
		f := s.fitOf(sig, pl)
		if !f.ok {
			continue
		}
		found := false
		f.cols.each(func(c int) {
			found = found || req.within(&pl.room[pl.u.cols[c].typ], s.nd)
		})
		if found {
			return true
		}
	}
	for _, n := range s.standing {
		if !n.closed && req.within(&n.free, s.nd) && s.nodeAllows(n, sig) {
			return true
		}
	}
	return false
}
