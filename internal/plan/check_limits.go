package plan

import (
	"maps"
	"slices"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// checkLimits holds what each NodePool has in use, and what the plan adds to it,
// against its limits. A new node counts as the largest that it may be, since
// which one it is becomes known only after the commit.
func (c *checker) checkLimits() {
	added := map[string][]*choice{}
	for _, s := range c.sites {
		if s.choice != nil && len(c.pools[s.plan.NodePool].Limits) > 0 {
			added[s.plan.NodePool] = append(added[s.plan.NodePool], s.choice)
		}
	}
	if len(added) == 0 {
		return
	}
	used := c.inUse(added)
	for _, name := range slices.Sorted(maps.Keys(added)) {
		for _, l := range c.pools[name].Limits {
			sum := int64(0)
			for _, ch := range added[name] {
				sum = plus(sum, ch.most(l.Name))
			}
			if sum > 0 && plus(used[name].Get(l.Name), sum) > l.Amount {
				c.faults.say(RuleLimits, "", "", "NodePool %s: %s of %s in use and %s planned are more than its limit of %s", name,
					cluster.FormatAmount(l.Name, used[name].Get(l.Name)), l.Name, cluster.FormatAmount(l.Name, sum), cluster.FormatAmount(l.Name, l.Amount))
			}
		}
	}
}

// most is the largest capacity of one resource among the offers.
func (ch *choice) most(resource string) int64 {
	if resource == cluster.Nodes {
		return 1
	}
	if n, ok := ch.largest[resource]; ok {
		return n
	}
	n := int64(0)
	for _, o := range ch.offers {
		n = max(n, ch.t.pool.types[ch.t.pool.offers[o].typ].Capacity.Get(resource))
	}
	ch.largest[resource] = n
	return n
}

// inUse sums the capacity of the nodes and the claims in flight of some pools.
// What is on its way out is in use until it is gone.
func (c *checker) inUse(pools map[string][]*choice) map[string]cluster.Resources {
	out := make(map[string]cluster.Resources, len(pools))
	add := func(pool string, capacity cluster.Resources) {
		total := out[pool]
		for _, l := range c.pools[pool].Limits {
			n := capacity.Get(l.Name)
			if l.Name == cluster.Nodes {
				n = 1
			}
			if n > 0 {
				total = total.With(l.Name, plus(total.Get(l.Name), n))
			}
		}
		out[pool] = total
	}
	for i := range c.snap.Nodes {
		n := &c.snap.Nodes[i]
		pool := n.NodePoolName()
		if _, asked := pools[pool]; !asked {
			continue
		}
		capacity := n.Capacity
		if m := c.claimOf[n.Name]; m != nil {
			capacity = promised(capacity, m.Capacity)
		}
		add(pool, capacity)
	}
	for i := range c.snap.Claims {
		m := &c.snap.Claims[i]
		if _, asked := pools[m.NodePool]; asked && !c.joined[m] {
			add(m.NodePool, m.Capacity)
		}
	}
	return out
}

// checkReservations counts the new nodes that may use each reservation.
func (c *checker) checkReservations() {
	uses := map[string]int64{}
	free := map[string]int64{}
	for _, s := range c.sites {
		if s.choice == nil || len(s.choice.reserved) == 0 {
			continue
		}
		for _, id := range s.choice.reserved {
			uses[id]++
		}
		for _, o := range s.choice.offers {
			if f := &s.choice.t.pool.offers[o]; f.CapacityType == cluster.Reserved {
				free[f.ReservationID] = f.ReservationCount
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(uses)) {
		if uses[id] > free[id] {
			c.faults.say(RuleReservations, "", "", "reservation %s: %d new nodes may use it, %d instances are free", id, uses[id], free[id])
		}
	}
}
