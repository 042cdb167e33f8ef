package scheduling

// hostPart is one unit's part in a rule whose domain is the node: how many of
// its pods declare it and how many it counts.
type hostPart struct {
	g        int32
	own, cnt int32
}

// hostState is what the pods of one node mean for the rules of the node: a short
// list, ordered by group.
type hostState []hostPart

func (h hostState) get(g int32) (own, cnt int32) {
	for i := range h {
		if h[i].g == g {
			return h[i].own, h[i].cnt
		}
	}
	return 0, 0
}

// with adds k units.
func (h hostState) with(parts []hostPart, k int32) hostState {
	for _, p := range parts {
		found := false
		for i := range h {
			if h[i].g == p.g {
				h[i].own += p.own * k
				h[i].cnt += p.cnt * k
				found = true
				break
			}
		}
		if !found {
			h = append(h, hostPart{p.g, p.own * k, p.cnt * k})
		}
	}
	return h
}

const noCap = int64(1) << 40

// hostCap is how many units with these parts the node can take, so that each of
// its pods could be admitted with all others in place.
func (s *solver) hostCap(h hostState, parts []hostPart) int64 {
	k := noCap
	for _, p := range parts {
		own, cnt := h.get(p.g)
		g := s.groups[p.g]
		switch g.kind {
		case spread:
			if p.own == 0 && own == 0 {
				continue
			}
			if room := int64(g.maxSkew - cnt + s.hostFloor(p.g)); p.cnt > 0 {
				k = min(k, max(0, room/int64(p.cnt)))
			} else if room < 0 {
				return 0
			}
		case affinity:
			if p.own > 0 && cnt == 0 && (p.cnt == 0 || s.tallies[p.g].total > 0 && p.cnt == 1) {
				return 0
			}
		default:
			if own > 0 && p.cnt > 0 || p.own > 0 && cnt > 0 || p.own > 0 && p.cnt > 1 {
				return 0
			}
			if p.own > 0 && p.cnt > 0 {
				k = min(k, 1)
			}
		}
		if k <= 0 {
			return 0
		}
	}
	return k
}

// hostFloor is the least count of a spread over nodes: 0 where a node can be made,
// which is empty; else the least of the nodes that stand and that the rule counts.
func (s *solver) hostFloor(id int32) int32 {
	if !s.standingOnly[id] {
		return 0
	}
	g := s.groups[id]
	low, found := int32(0), int32(0)
	for _, n := range s.standing {
		if !s.passesFilter(n, g) {
			continue
		}
		if _, cnt := n.host.get(id); found == 0 || cnt < low {
			low = cnt
		}
		found++
	}
	if found < g.minDomains {
		return 0
	}
	return low
}

// markStandingOnly finds the spreads over nodes for which no node can be made.
func (s *solver) markStandingOnly() {
	s.standingOnly = make([]bool, len(s.groups))
	for id, g := range s.groups {
		if g.kind == spread && g.host() {
			s.standingOnly[id] = !s.someCounts(g)
		}
	}
}

// someCounts tells whether a node that a spread rule counts can be made.
func (s *solver) someCounts(g *group) bool {
	for _, p := range s.pools {
		if p.base.empty() {
			continue
		}
		if s.stateCounts(s.baseState(p), g) != never {
			return true
		}
	}
	return false
}
