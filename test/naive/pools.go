package naive

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
)

// typesOf are the types that a NodePool can launch, with the overlays applied.
func (c *checker) typesOf(poolName string) []cluster.InstanceType {
	pool := c.pools[poolName]
	if pool == nil {
		return nil
	}
	if ts, ok := c.catalog[poolName]; ok {
		return ts
	}
	var out []cluster.InstanceType
	for _, t := range c.types(pool.NodeClass.Name) {
		t.Offerings = slices.Clone(t.Offerings)
		c.overlay(&t, pool)
		out = append(out, t)
	}
	c.catalog[poolName] = out
	return out
}

// overlay applies the overlays that match, the heaviest first; the first that
// sets a price sets it, and the first that sets a resource sets it.
func (c *checker) overlay(t *cluster.InstanceType, pool *cluster.NodePool) {
	overlays := slices.Clone(c.snap.Overlays)
	slices.SortFunc(overlays, func(a, b cluster.NodeOverlay) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Name, b.Name))
	})
	priced := map[int]bool{}
	given := map[string]bool{}
	for _, o := range overlays {
		touched := false
		for i := range t.Offerings {
			f := &t.Offerings[i]
			labels := c.labelsOf(&node{}, pool, option{t, f})
			if !allHold(o.Requirements, labels) {
				continue
			}
			touched = true
			if (o.Price != nil || o.Adjustment != nil) && !priced[i] && (f.CapacityType != cluster.Reserved || aboutKind(o)) {
				priced[i] = true
				f.Price = adjusted(f.Price, o)
			}
		}
		if !touched {
			continue
		}
		for _, r := range o.Capacity {
			if !given[r.Name] {
				given[r.Name] = true
				t.Capacity, t.Allocatable = t.Capacity.With(r.Name, r.Amount), t.Allocatable.With(r.Name, r.Amount)
			}
		}
	}
}

// aboutKind tells whether an overlay names a capacity type: only then does it
// change the price of what is paid for already.
func aboutKind(o cluster.NodeOverlay) bool {
	return slices.ContainsFunc(o.Requirements, func(r cluster.Requirement) bool { return r.Key == cluster.LabelCapacityType })
}

func adjusted(price float64, o cluster.NodeOverlay) float64 {
	switch {
	case o.Price != nil:
		return *o.Price
	case o.Percent:
		return max(0, price*(1+*o.Adjustment/100))
	default:
		return max(0, price+*o.Adjustment)
	}
}

func allHold(rs []cluster.Requirement, labels map[string]string) bool {
	return !slices.ContainsFunc(rs, func(r cluster.Requirement) bool {
		return !holds(labels, r.Key, string(r.Operator), r.Values)
	})
}

// optionsOf lists what a new node may be: its types, zones and capacity types
// as far as they are offered, the report's own choice first, then by price.
func (c *checker) optionsOf(pool *cluster.NodePool, r *plan.NewNode) []option {
	var out []option
	types := c.typesOf(pool.Name)
	for i := range types {
		t := &types[i]
		if !slices.Contains(r.InstanceTypes, t.Name) {
			continue
		}
		for j := range t.Offerings {
			f := &t.Offerings[j]
			if c.offered(pool, f) && slices.Contains(r.Zones, f.Zone) && slices.Contains(r.CapacityTypes, f.CapacityType) && f.ReservationID == wanted(r, f) {
				out = append(out, option{t, f})
			}
		}
	}
	first := func(o option) int {
		if o.typ.Name == r.InstanceType && o.off.Zone == r.Zone && o.off.CapacityType == r.CapacityType {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(out, func(a, b option) int {
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(a.off.Price, b.off.Price), cmp.Compare(a.typ.Name, b.typ.Name),
			cmp.Compare(a.off.Zone, b.off.Zone), cmp.Compare(a.off.CapacityType, b.off.CapacityType))
	})
	return out
}

// wanted is the reservation that a new node uses when it is launched as an
// offering.
func wanted(r *plan.NewNode, f *cluster.Offering) string {
	if f.CapacityType == cluster.Reserved {
		return r.ReservationID
	}
	return ""
}

// offered tells whether an offering can be launched for a pool at all.
func (c *checker) offered(pool *cluster.NodePool, f *cluster.Offering) bool {
	if f.Unavailable || f.CapacityType == cluster.Reserved && f.ReservationCount <= 0 {
		return false
	}
	class := c.classes[pool.NodeClass.Name]
	return class != nil && (len(class.Zones) == 0 || slices.Contains(class.Zones, f.Zone))
}

// custom lists the keys of a pool's requirements that neither the types nor the
// offerings give a value.
func (c *checker) custom(pool *cluster.NodePool) []string {
	var out []string
	for _, r := range pool.Requirements {
		if !ofOffering(r.Key) && !c.ofTypes(pool, r.Key) && pool.Labels[r.Key] == "" && !slices.Contains(out, r.Key) {
			out = append(out, r.Key)
		}
	}
	return out
}

func (c *checker) ofTypes(pool *cluster.NodePool, key string) bool {
	return slices.ContainsFunc(c.typesOf(pool.Name), func(t cluster.InstanceType) bool {
		_, ok := t.Labels[key]
		return ok
	})
}

// diversity says which minValues the options of a node do not reach.
func diversity(pool *cluster.NodePool, seen map[string]map[string]bool) []string {
	var out []string
	for _, r := range pool.Requirements {
		if r.MinValues > 0 && len(seen[r.Key]) < r.MinValues {
			out = append(out, r.Key)
		}
	}
	return out
}

// note records the values that an option's labels bring for the keys that
// minValues are about.
func note(seen map[string]map[string]bool, pool *cluster.NodePool, labels map[string]string) {
	for _, r := range pool.Requirements {
		if v, ok := labels[r.Key]; ok && r.MinValues > 0 {
			if seen[r.Key] == nil {
				seen[r.Key] = map[string]bool{}
			}
			seen[r.Key][v] = true
		}
	}
}

// checkLimits holds what every NodePool has in use, and what is planned at the
// largest that each new node may be, against the pool's limits.
func (c *checker) checkLimits() {
	for _, name := range slices.Sorted(maps.Keys(c.pools)) {
		used, planned := c.inUse(name), c.plannedFor(name)
		for _, l := range c.pools[name].Limits {
			if planned[l.Name] > 0 && used[l.Name]+planned[l.Name] > l.Amount {
				c.say("NodePool %s: %d of %s in use and %d planned pass the limit of %d", name, used[l.Name], l.Name, planned[l.Name], l.Amount)
			}
		}
	}
}

// inUse sums the capacity of a pool's standing nodes and of its claims in
// flight, leaving ones included: they are in use until they are gone.
func (c *checker) inUse(pool string) map[string]int64 {
	out := map[string]int64{}
	for i := range c.snap.Nodes {
		n := &c.snap.Nodes[i]
		if n.NodePoolName() != pool {
			continue
		}
		out[cluster.Nodes]++
		capacity := n.Capacity.Map()
		if claim := c.claimOf(n); claim != nil {
			for _, r := range claim.Capacity {
				if capacity[r.Name] == 0 {
					capacity[r.Name] = r.Amount
				}
			}
		}
		for k, v := range capacity {
			out[k] += v
		}
	}
	for i := range c.snap.Claims {
		if m := &c.snap.Claims[i]; m.NodePool == pool && !c.nodeOf(m) {
			out[cluster.Nodes]++
			for _, r := range m.Capacity {
				out[r.Name] += r.Amount
			}
		}
	}
	return out
}

// plannedFor sums, for each resource, the largest capacity among the options of
// each new node of a pool.
func (c *checker) plannedFor(pool string) map[string]int64 {
	out := map[string]int64{}
	for _, n := range c.world.nodes {
		if n.plan == nil || n.plan.NodePool != pool {
			continue
		}
		out[cluster.Nodes]++
		largest := map[string]int64{}
		for _, o := range n.options {
			for _, r := range o.typ.Capacity {
				largest[r.Name] = max(largest[r.Name], r.Amount)
			}
		}
		for k, v := range largest {
			out[k] += v
		}
	}
	return out
}

// checkReservations counts the new nodes that may use each reservation.
func (c *checker) checkReservations() {
	used, free := c.reservations()
	for _, id := range slices.Sorted(maps.Keys(used)) {
		if used[id] > free[id] {
			c.say("reservation %s: %d new nodes, %d instances are free", id, used[id], free[id])
		}
	}
}

func (c *checker) reservations() (used, free map[string]int64) {
	used, free = map[string]int64{}, map[string]int64{}
	for _, n := range c.world.nodes {
		ids := map[string]bool{}
		for _, o := range n.options {
			if o.off.CapacityType == cluster.Reserved {
				ids[o.off.ReservationID] = true
				free[o.off.ReservationID] = o.off.ReservationCount
			}
		}
		for id := range ids {
			used[id]++
		}
	}
	return used, free
}

// checkSummary adds up what the report adds up.
func (c *checker) checkSummary() {
	s := c.report.Summary
	price, placed := 0.0, 0
	for _, n := range c.report.NewNodes {
		price += n.PricePerHour
		placed += len(n.Pods)
	}
	for _, n := range c.report.ExistingNodes {
		placed += len(n.Pods)
	}
	if s.NewNodes != len(c.report.NewNodes) {
		c.say("summary: %d new nodes, the report lists %d", s.NewNodes, len(c.report.NewNodes))
	}
	if s.Scheduled != placed || s.Pods != placed+len(c.report.Unschedulable) {
		c.say("summary: %d of %d pods scheduled, the report lists %d of %d", s.Scheduled, s.Pods, placed, placed+len(c.report.Unschedulable))
	}
	if !near(s.PricePerHour, price) {
		c.say("summary: $%g an hour, the new nodes add up to $%g", s.PricePerHour, price)
	}
	if s.LowerBoundPerHour > price*(1+1e-9)+1e-9 {
		c.say("summary: the lower bound $%g is above the price $%g", s.LowerBoundPerHour, price)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(a), math.Abs(b)) }
