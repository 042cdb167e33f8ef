package scheduling

// enforce counts every topology rule anew over what is placed and takes out pods
// that break one: where some of a group could not be placed (a limit, no
// capacity), those that are may no longer be in balance, or have lost what they
// wanted to be near. What is taken out is tried again one by one.
func (s *solver) enforce(nodes []*openNode) {
	if len(s.groups) == 0 {
		return
	}
	s.recount(nodes)
	for budget := len(s.p.Pods); budget > 0; budget-- {
		g, name, found := s.broken(nodes)
		if found && s.evictFrom(nodes, g, name) {
			continue
		}
		if !s.takeUnbindable(nodes) {
			break
		}
	}
}

// recount fills the tallies from the pods that stand and those that are placed.
func (s *solver) recount(nodes []*openNode) {
	for i := range s.tallies {
		s.tallies[i].restore(&s.stood[i])
	}
	for _, n := range s.standing {
		for _, pod := range n.pods {
			s.bookAt(s.classOf(pod), n, 1)
		}
	}
	for _, n := range nodes {
		for _, c := range n.of {
			s.bookOpen(c, n.st, 1)
		}
	}
	s.countOpenDomains(nodes)
}

// countOpenDomains lets the domains that the nodes to open bring into being take
// part in the spread rules that count them. A node that need not bring one shall
// not.
func (s *solver) countOpenDomains(nodes []*openNode) {
	clear(s.uncounted)
	for id, g := range s.groups {
		if g.kind != spread || g.host() || !s.hardGroup[id] {
			continue
		}
		last := int32(-1)
		for _, n := range nodes {
			if len(n.pods) == 0 || n.st == last || s.stateCounts(n.st, g) == never {
				continue
			}
			if !s.bringsDomain(int32(id), n) {
				last = n.st
			} else if !s.keepOut(int32(id), n) {
				s.countDomain(int32(id), n.st)
			}
		}
	}
}

// bringsDomain tells whether a node may be in a domain that a spread rule does not
// count yet.
func (s *solver) bringsDomain(id int32, n *openNode) bool {
	t := &s.tallies[id]
	for _, name := range s.countedValues(n.st, s.groups[id]) {
		if d, known := t.index[name]; !known || !t.counted[d] {
			return true
		}
	}
	return false
}

// countedValues are the domains in which a spread rule may come to count a node.
func (s *solver) countedValues(st int32, g *group) []string {
	k := countedKey{st, g.key, g.filter}
	if v, ok := s.countedIn[k]; ok {
		return v
	}
	v := s.findCountedValues(st, g)
	s.countedIn[k] = v
	return v
}

type countedKey struct {
	st     int32
	key    string
	filter int32
}

func (s *solver) findCountedValues(st int32, g *group) []string {
	old := s.states[st]
	if g.filter < 0 || !old.pool.u.describes(g.key) {
		return s.stateValues(st, g.key)
	}
	in, _ := s.filtered(st, g)
	if in == nil {
		return nil
	}
	return old.pool.u.valuesIn(g.key, in)
}

// keepOut narrows a node to the domains that a spread rule counts, where it can be
// one of those.
func (s *solver) keepOut(id int32, n *openNode) bool {
	if !n.pool.u.describes(s.groups[id].key) {
		return false
	}
	bad := s.newDomains(id, n.pool.u)
	if g := s.groups[id]; bad != nil && g.filter >= 0 {
		bad = s.filteredOf(n.st, g, bad)
	}
	if bad == nil || bad.has(int(n.col)) {
		return bad == nil
	}
	rest := s.without(n.st, bad)
	if s.strict(n.pool) {
		if _, ok := s.commitment(n.pool, rest, n.col, &n.req, n.charge); !ok {
			return false
		}
	}
	n.st = rest
	return true
}

func (s *solver) countDomain(id int32, st int32) {
	t := &s.tallies[id]
	for _, name := range s.countedValues(st, s.groups[id]) {
		t.counted[t.domain(name)] = true
	}
	clear(s.uncounted)
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

// bookAt counts a pod on a standing node for every hard rule.
func (s *solver) bookAt(c *class, n *standingNode, sign int32) {
	for _, r := range c.hard {
		g := s.groups[r.g]
		r = s.asCounted(r, s.passesFilter(n, g))
		if g.host() {
			if r.match {
				s.tallies[r.g].total += sign
			}
		} else if name, ok := n.labels[g.key]; ok {
			s.bookIn(r, name, sign)
		}
	}
}

// bookOpen counts a pod on a node to be opened for every hard rule.
func (s *solver) bookOpen(c *class, st int32, sign int32) {
	for _, r := range c.hard {
		g := s.groups[r.g]
		if g.host() {
			if r.match {
				s.tallies[r.g].total += sign
			}
		} else if name, ok := s.domainOfState(st, g.key); ok {
			s.bookIn(s.asCounted(r, s.stateCounts(st, g) != never), name, sign)
		}
	}
}

// asCounted is a class's part in a rule on a node that the rule's filter lets in,
// or does not: a spread rule counts nobody there.
func (s *solver) asCounted(r ref, in bool) ref {
	if !in && s.groups[r.g].kind == spread {
		r.match = false
	}
	return r
}

func (s *solver) bookIn(r ref, name string, sign int32) {
	t := &s.tallies[r.g]
	var by, own int32
	if r.match {
		by = sign
	}
	if r.own {
		own = sign
	}
	t.add(t.domain(name), by, own)
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

// broken finds a domain in which an owner of a spread rule could not be admitted.
func (s *solver) broken(nodes []*openNode) (int32, string, bool) {
	for id, g := range s.groups {
		if g.kind != spread || g.host() || !s.hardGroup[id] {
			continue
		}
		t := &s.tallies[id]
		least := t.least(g, -1, 0)
		for _, d := range t.ordered() {
			if t.owners[d] == 0 {
				continue
			}
			if t.count[d]-least > g.maxSkew && s.ownsMovable(nodes, int32(id), t.names[d]) {
				return int32(id), t.names[d], true
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
	s.eachIn(nodes, g, name, func(c *class, a *standingNode, b *openNode, i int) bool {
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
	if sn != nil {
		pod = sn.pods[i]
		sn.pods = append(sn.pods[:i:i], sn.pods[i+1:]...)
		if sn.claims != nil {
			c.noteClaims(sn.claims, -1)
		}
		req := c.beside(sn.claims)
		sn.free.add(&req, s.nd)
		sn.host = sn.host.with(host, 1)
		s.bookAt(c, sn, -1)
	} else {
		pod = on.pods[i]
		on.pods = append(on.pods[:i:i], on.pods[i+1:]...)
		on.of = append(on.of[:i:i], on.of[i+1:]...)
		if on.claims != nil {
			c.noteClaims(on.claims, -1)
		}
		req := c.beside(on.claims)
		on.req.sub(&req, s.nd)
		on.host = append(hostState(nil), on.host...).with(host, 1)
		s.bookOpen(c, on.st, -1)
		if len(on.pods) == 0 {
			s.giveBack(on)
		}
	}
	s.stray(c, []int32{pod})
}
