package plan

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// portUse is a host port that somebody occupies.
type portUse struct {
	who string
	pod *cluster.Pod
	ip  string
}

type portKey struct {
	protocol corev1.Protocol
	port     int32
}

func keyOf(h *cluster.HostPort) portKey {
	if h.Protocol == "" {
		return portKey{corev1.ProtocolTCP, h.Port}
	}
	return portKey{h.Protocol, h.Port}
}

// checkHostPorts asks that no pod that the plan adds to a node wants a port that
// another pod of the node has.
func (c *checker) checkHostPorts(s *site) {
	wanted := false
	for _, p := range s.pods {
		wanted = wanted || len(p.HostPorts) > 0
	}
	if !wanted {
		return
	}
	uses := map[portKey][]portUse{}
	occupy := func(p *cluster.Pod, who string) {
		for i := range p.HostPorts {
			h := &p.HostPorts[i]
			uses[keyOf(h)] = append(uses[keyOf(h)], portUse{who, p, h.IP})
		}
	}
	for _, p := range s.bound {
		occupy(p, "pod "+p.Key())
	}
	for _, d := range c.daemonsAt(s) {
		occupy(&d.spec.Template, "DaemonSet "+d.spec.Namespace+"/"+d.spec.Name)
	}
	for _, p := range s.pods {
		for i := range p.HostPorts {
			h := &p.HostPorts[i]
			for _, u := range uses[keyOf(h)] {
				if u.pod != p && sameAddress(u.ip, h.IP) {
					c.faults.say(RuleHostPorts, s.name, p.Key(), "%s has port %d of the host", u.who, h.Port)
				}
			}
		}
		occupy(p, "pod "+p.Key())
	}
}

func sameAddress(a, b string) bool { return a == b || anyAddress(a) || anyAddress(b) }

func anyAddress(ip string) bool { return ip == "" || ip == "0.0.0.0" || ip == "::" }

// daemonsAt lists the daemons that are yet to run on a node, for a new one those
// of any of its offers.
func (c *checker) daemonsAt(s *site) []*daemon {
	if s.plan == nil {
		return c.missingDaemons(s)
	}
	if s.choice == nil {
		return nil
	}
	always, sometimes := c.daemonsOf(s.choice)
	var out []*daemon
	for _, i := range append(always, sometimes...) {
		out = append(out, c.daemons[i])
	}
	return out
}
