package scheduling

import (
	"math"

	corev1 "k8s.io/api/core/v1"
)

// anyToleration tolerates everything.
var anyToleration = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}

// softTaintWeight is what a PreferNoSchedule taint weighs against price.
const softTaintWeight = 10

// honourPreferences narrows each class's signature by the preferred node
// affinity terms that are worth their price, the heaviest first: a preference of
// weight w is worth w per cent of the price of the pod's share of a node. What
// is not worth it, or cannot be had, is dropped, which no pod has to fail for.
// Where a standing node is what is preferred the price is nothing.
func (s *solver) honourPreferences() {
	for _, c := range s.classes {
		if len(c.shape.prefs) == 0 {
			continue
		}
		plain := s.shareCost(c.sig, &c.req)
		for _, p := range c.shape.prefs {
			sig := c.sig
			for _, kv := range p.t {
				sig = s.pinned(sig, kv.key, kv.v)
			}
			cost := s.shareCost(sig, &c.req)
			if math.IsInf(cost, 1) || s.noPlace(sig) {
				continue
			}
			if cost <= plain*(1+float64(p.weight)/100)+1e-12 {
				c.sig = sig
			}
		}
	}
}

// noPlace tells whether a signature rules out every node.
func (s *solver) noPlace(sig int32) bool { return len(s.sigs[sig].terms) == 0 }

// shareCost is the price of a pod's share of the cheapest node that a signature
// allows, an hour; infinite when there is none.
func (s *solver) shareCost(sig int32, req *vec) float64 {
	k := costKey{sig: sig, pool: -1, req: *req}
	if v, ok := s.shares[k]; ok {
		return v
	}
	best := math.Inf(1)
	for _, n := range s.standing {
		if !n.closed && req.within(&n.free, s.nd) && s.nodeAllows(n, sig) {
			best = 0
		}
	}
	for _, p := range s.pools {
		if best == 0 {
			break
		}
		f := s.fitOf(sig, p)
		if !f.ok {
			continue
		}
		f.cols.each(func(i int) {
			col := &p.u.cols[i]
			if col.price*0 != 0 || !req.within(&p.room[col.typ], s.nd) {
				return
			}
			cost := col.price * share(req, &p.room[col.typ], s.nd)
			if f.soft {
				cost *= 1 + softTaintWeight/100.0
			}
			best = min(best, cost)
		})
	}
	s.shares[k] = best
	return best
}
