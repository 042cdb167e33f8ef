package scheduling

import "github.com/dovetail-sh/dovetail/internal/cluster"

// claimUse is a use of a volume claim that counts against a node's limit, once for
// all pods of the node that use it.
type claimUse struct {
	id  string // namespace/name
	dim int
}

// claimUses lists the claims of a pod that its request counts as volumes to attach.
func (s *solver) claimUses(p *cluster.Pod) []claimUse {
	var out []claimUse
	seen := map[string]bool{}
	for i := range p.Volumes {
		v := &p.Volumes[i]
		id := p.Namespace + "/" + v.Claim
		if v.Driver != "" || v.Ephemeral || seen[id] {
			continue
		}
		seen[id] = true
		driver := s.driverOf(p, v)
		for d, name := range s.attach {
			if name == driver {
				out = append(out, claimUse{id, s.firstAttach + d})
			}
		}
	}
	return out
}

// beside is what a pod of a class asks for on a node where some of its claims are
// attached already.
func (c *class) beside(attached map[string]int) vec {
	req := c.req
	for _, u := range c.shape.claims {
		if attached[u.id] > 0 {
			req[u.dim]--
		}
	}
	return req
}

// unshared is what every pod of a class asks for, however many share its claims.
func (c *class) unshared() vec {
	req := c.req
	for _, u := range c.shape.claims {
		req[u.dim] = 0
	}
	return req
}

func (c *class) noteClaims(attached map[string]int, sign int) {
	for _, u := range c.shape.claims {
		attached[u.id] += sign
	}
}

// onStandingNode is what a pod of a class asks for on a standing node.
func (s *solver) onStandingNode(c *class, n *standingNode) vec {
	if len(c.shape.claims) == 0 {
		return c.req
	}
	if n.claims == nil {
		n.claims = map[string]int{}
		for _, p := range s.p.Nodes[n.index].Pods {
			for i := range p.Volumes {
				if v := &p.Volumes[i]; v.Driver == "" && !v.Ephemeral {
					n.claims[p.Namespace+"/"+v.Claim]++
				}
			}
		}
		for _, pod := range n.pods {
			o := s.classOf(pod)
			req, paid := o.beside(n.claims), o.req
			paid.sub(&req, s.nd)
			n.free.add(&paid, s.nd)
			o.noteClaims(n.claims, 1)
		}
	}
	return c.beside(n.claims)
}

// onOpenNode is what a pod of a class asks for on a node to be opened.
func (s *solver) onOpenNode(c *class, n *openNode) vec {
	if len(c.shape.claims) == 0 {
		return c.req
	}
	if n.claims == nil {
		n.claims = map[string]int{}
		for _, o := range n.of {
			req, paid := o.beside(n.claims), o.req
			paid.sub(&req, s.nd)
			n.req.sub(&paid, s.nd)
			o.noteClaims(n.claims, 1)
		}
	}
	return c.beside(n.claims)
}

// markShared finds the unbound claims that more than one pod uses: those must share
// a zone, which is where the volume will be.
func (s *solver) markShared() {
	users := map[string]int{}
	note := func(p *cluster.Pod) {
		for i := range p.Volumes {
			if id := s.unboundClaim(p, &p.Volumes[i]); id != "" {
				users[id]++
			}
		}
	}
	for _, p := range s.p.Pods {
		note(p)
	}
	if len(users) == 0 {
		return
	}
	for i := range s.p.Nodes {
		for _, p := range s.p.Nodes[i].Pods {
			note(p)
		}
	}
	for id, n := range users {
		if n > 1 {
			if s.shared == nil {
				s.shared = map[string]bool{}
			}
			s.shared[id] = true
		}
	}
}

// unboundClaim is the claim of a volume that is yet to be made in the zone of the
// claim's first user, "" for others. Of the drivers that AWS has only EBS makes
// volumes that a zone holds.
func (s *solver) unboundClaim(p *cluster.Pod, v *cluster.Volume) string {
	if v.Claim == "" || v.Ephemeral || v.Driver != "" {
		return ""
	}
	id := p.Namespace + "/" + v.Claim
	if c := s.p.Volumes.Claims[id]; c == nil || c.VolumeName != "" || s.driverOf(p, v) != ebsDriver {
		return ""
	}
	return id
}

// claimGroups are the rules that the users of a shared unbound claim are in.
func (s *solver) claimGroups(p *cluster.Pod) []int32 {
	var out []int32
	for i := range p.Volumes {
		if id := s.unboundClaim(p, &p.Volumes[i]); s.shared[id] {
			out = append(out, s.internGroup(group{kind: affinity, key: cluster.LabelZone, claim: id, filter: -1}))
		}
	}
	return out
}
