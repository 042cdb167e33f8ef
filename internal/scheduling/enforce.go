package scheduling

// enforce counts every topology rule anew over what is placed and takes out pods
// that break one: where some of a group could not be placed (a limit, no
// capacity), those that are may no longer be in balance. What is taken out is
// tried again one by one.
func (s *solver) enforce(nodes []*openNode) {
	if len(s.groups) == 0 {
		return
	}
	s.recount(nodes)
	for budget := len(s.p.Pods); budget > 0; budget-- {
		g, name, found := s.broken(nodes)
		if !found || !s.evictFrom(nodes, g, name) {
			break
		}
	}
	s.enforceHosts(nodes)
}

// recount fills the tallies from the pods that stand and those that are placed.
func (s *solver) recount(nodes []*openNode) {
	counted := make([][]bool, len(s.tallies))
	names := make([][]string, len(s.tallies))
	for i := range s.tallies {
		counted[i], names[i] = s.tallies[i].counted, s.tallies[i].names
	}
	hosts := make([]hostState, len(s.standing))
	for i, n := range s.standing {
		hosts[i] = n.host
		n.host = nil
	}
	s.countStanding()
	for i := range s.tallies {
		for d, name := range names[i] {
			t := &s.tallies[i]
			k := t.domain(name)
			t.counted[k] = t.counted[k] || counted[i][d]
		}
	}
	for i, n := range s.standing {
		n.host = hosts[i]
		for _, pod := range n.pods {
			s.bookAt(s.classOf(pod), n.labels)
		}
	}
	for _, n := range nodes {
		for _, c := range n.of {
			s.bookOpen(c, n.st)
		}
	}
}

// classOf finds the class of a pod that a standing node took.
func (s *solver) classOf(pod int32) *class {
	if s.podClass == nil {
		s.podClass = make([]*class, len(s.p.Pods))
		for _, c := range s.classes {
			for _, p := range c.pods {
				s.podClass[p] = c
			}
		}
	}
	return s.podClass[pod]
}

func (s *solver) bookAt(c *class, labels map[string]string) {
	for _, r := range c.hard {
		key := s.groups[r.g].key
		if key == hostKey {
			if r.match {
				s.tallies[r.g].total++
			}
			continue
		}
		if name, ok := labels[key]; ok {
			s.book(key, r, name)
		}
	}
}

func (s *solver) bookOpen(c *class, st int32) {
	for _, r := range c.hard {
		key := s.groups[r.g].key
		if key == hostKey {
			if r.match {
				s.tallies[r.g].total++
			}
			continue
		}
		if name, ok := s.domainOfState(st, key); ok {
			s.book(key, r, name)
		}
	}
}

// domainOfState is the one value that a node in a state has for a key.
func (s *solver) domainOfState(st int32, key string) (string, bool) {
	k := stateValue{st, key}
	if v, ok := s.stateDomain[k]; ok {
		return v, v != ""
	}
	v := ""
	if vs := s.stateValues(st, key); len(vs) == 1 {
		v = vs[0]
	}
	s.stateDomain[k] = v
	return v, v != ""
}

type stateValue struct {
	st  int32
	key string
}

// broken finds a domain in which an owner of a rule could not be admitted.
func (s *solver) broken(nodes []*openNode) (int32, string, bool) {
	for id, g := range s.groups {
		if g.host() || !s.hardGroup[id] {
			continue
		}
		t := &s.tallies[id]
		least := t.least(g, -1, 0)
		for _, d := range t.ordered() {
			if t.owners[d] == 0 {
				continue
			}
			switch g.kind {
			case spread:
				if t.count[d]-least > g.maxSkew && s.ownsMovable(nodes, int32(id), t.names[d]) {
					return int32(id), t.names[d], true
				}
			case affinity:
				if t.count[d] == 0 && s.ownsMovable(nodes, int32(id), t.names[d]) {
					return int32(id), t.names[d], true
				}
			}
		}
	}
	return 0, "", false
}

// ownsMovable tells whether a pod that this plan placed declares the rule in the
// domain: pods that stand are not judged.
func (s *solver) ownsMovable(nodes []*openNode, g int32, name string) bool {
	found := false
	s.eachIn(nodes, g, name, func(c *class, _ *standingNode, _ *openNode, _ int) bool {
		found = owns(c, g)
		return !found
	})
	return found
}

func owns(c *class, g int32) bool {
	for _, r := range c.hard {
		if r.g == g {
			return r.own
		}
	}
	return false
}

// eachIn visits the placed pods that have a part in a rule in a domain, the last
// first, until f returns false.
func (s *solver) eachIn(nodes []*openNode, g int32, name string, f func(c *class, sn *standingNode, on *openNode, i int) bool) {
	key := s.groups[g].key
	for k := len(nodes) - 1; k >= 0; k-- {
		n := nodes[k]
		if v, ok := s.domainOfState(n.st, key); !ok || v != name {
			continue
		}
		for i := len(n.of) - 1; i >= 0; i-- {
			if hasRef(n.of[i], g) && !f(n.of[i], nil, n, i) {
				return
			}
		}
	}
	for k := len(s.standing) - 1; k >= 0; k-- {
		n := s.standing[k]
		if n.labels[key] != name {
			continue
		}
		for i := len(n.pods) - 1; i >= 0; i-- {
			if c := s.classOf(n.pods[i]); hasRef(c, g) && !f(c, n, nil, i) {
				return
			}
		}
	}
}

func hasRef(c *class, g int32) bool {
	for _, r := range c.hard {
		if r.g == g {
			return true
		}
	}
	return false
}

// evictFrom takes one pod of a rule out of a domain: the last that the rule
// counts, of the lowest priority.
func (s *solver) evictFrom(nodes []*openNode, g int32, name string) bool {
	var low *class
	var sn *standingNode
	var on *openNode
	at := -1
	wantOwner := s.groups[g].kind == affinity
	s.eachIn(nodes, g, name, func(c *class, a *standingNode, b *openNode, i int) bool {
		if wantOwner && !owns(c, g) {
			return true
		}
		if low == nil || c.shape.priority < low.shape.priority {
			low, sn, on, at = c, a, b, i
		}
		return true
	})
	if low == nil {
		return false
	}
	s.takeOut(low, sn, on, at)
	return true
}

// takeOut removes a pod from its node and hands it to the strays.
func (s *solver) takeOut(c *class, sn *standingNode, on *openNode, i int) {
	host := s.hostParts(c, -1)
	var pod int32
	unbook := func(key, name string) {
		for _, r := range c.hard {
			if s.groups[r.g].key != key || key == hostKey {
				continue
			}
			t := &s.tallies[r.g]
			var by, own int32
			if r.match {
				by = -1
			}
			if r.own {
				own = -1
			}
			t.add(t.domain(name), by, own)
		}
	}
	if sn != nil {
		pod = sn.pods[i]
		sn.pods = append(sn.pods[:i:i], sn.pods[i+1:]...)
		sn.free.add(&c.req, s.nd)
		sn.host = sn.host.with(host, 1)
		for _, key := range s.keysOf(c) {
			if name, ok := sn.labels[key]; ok {
				unbook(key, name)
			}
		}
	} else {
		pod = on.pods[i]
		on.pods = append(on.pods[:i:i], on.pods[i+1:]...)
		on.of = append(on.of[:i:i], on.of[i+1:]...)
		on.req.sub(&c.req, s.nd)
		on.host = append(hostState(nil), on.host...).with(host, 1)
		for _, key := range s.keysOf(c) {
			if name, ok := s.domainOfState(on.st, key); ok {
				unbook(key, name)
			}
		}
	}
	for _, h := range host {
		s.tallies[h.g].total += h.cnt
	}
	s.stray(c, []int32{pod})
}

// enforceHosts takes out pods whose affinity to the node has lost what it was to.
func (s *solver) enforceHosts(nodes []*openNode) {
	for _, n := range nodes {
		for i := len(n.of) - 1; i >= 0; i-- {
			c := n.of[i]
			for _, r := range c.hard {
				g := s.groups[r.g]
				if g.kind != affinity || !g.host() || !r.own {
					continue
				}
				_, cnt := n.host.get(r.g)
				if r.match {
					cnt--
				}
				if cnt == 0 && !(r.match && s.tallies[r.g].total == 1) {
					s.takeOut(c, nil, n, i)
					break
				}
			}
		}
	}
}
