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
