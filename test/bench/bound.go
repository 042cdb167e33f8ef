package bench

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// Bounds are two figures to hold a price against, in $ an hour.
type Bounds struct {
	// Fractional is below every plan: the pods as a fluid of cores and bytes,
	// poured into the types that are cheapest for it.
	Fractional float64
	// Apart is the same for the pods of each architecture, zone and capacity
	// type by themselves. A plan may share nodes between them, so it is an
	// estimate and not a bound; with rules that few nodes can serve, plans stand
	// well above it.
	Apart float64
}

// BoundsOf computes both for waiting pods on given types. Daemons take their
// share of each node.
func BoundsOf(pods []cluster.Pod, types []cluster.InstanceType, daemons []cluster.DaemonSet) Bounds {
	var every cluster.Resources
	for i := range daemons {
		every = every.Add(daemons[i].Template.Requests)
	}
	apart := map[[3]string]demand{}
	all := demand{}
	for i := range pods {
		s := pods[i].NodeSelector
		k := [3]string{s[cluster.LabelArch], s[cluster.LabelZone], s[cluster.LabelCapacityType]}
		d := demand{float64(pods[i].Requests.Get(cluster.CPU)), float64(pods[i].Requests.Get(cluster.Memory))}
		apart[k] = apart[k].plus(d)
		all = all.plus(d)
	}
	out := Bounds{Fractional: cover(all, efficiencies(types, every, [3]string{}))}
	keys := make([][3]string, 0, len(apart))
	for k := range apart {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b [3]string) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	for _, k := range keys {
		out.Apart += cover(apart[k], efficiencies(types, every, k))
	}
	return out
}

// demand is cores (thousandths) and bytes, of pods, or what a dollar buys.
type demand struct{ cpu, mem float64 }

func (d demand) plus(o demand) demand { return demand{d.cpu + o.cpu, d.mem + o.mem} }

// efficiencies lists what a dollar an hour buys as each type at its cheapest
// offering, of those that a group (architecture, zone, capacity type; "" is any)
// may use. Only what no other type beats in both is kept, by rising memory.
func efficiencies(types []cluster.InstanceType, daemons cluster.Resources, group [3]string) []demand {
	var out []demand
	for i := range types {
		t := &types[i]
		if group[0] != "" && t.Arch != group[0] {
			continue
		}
		price := math.Inf(1)
		for _, o := range t.Offerings {
			if !o.Unavailable && (group[1] == "" || o.Zone == group[1]) && (group[2] == "" || o.CapacityType == group[2]) {
				price = min(price, o.Price)
			}
		}
		free := t.Allocatable.Sub(daemons)
		if cpu, mem := free.Get(cluster.CPU), free.Get(cluster.Memory); price > 0 && !math.IsInf(price, 1) && cpu > 0 && mem > 0 {
			out = append(out, demand{float64(cpu) / price, float64(mem) / price})
		}
	}
	slices.SortFunc(out, func(a, b demand) int { return cmp.Or(cmp.Compare(b.mem, a.mem), cmp.Compare(b.cpu, a.cpu)) })
	best := -1.0
	out = slices.DeleteFunc(out, func(d demand) bool {
		if d.cpu <= best {
			return true
		}
		best = d.cpu
		return false
	})
	slices.Reverse(out)
	return out
}

// cover is the least price of types that together have what is asked for: the
// value of a linear programme with two rows, whose optimum uses at most two types.
func cover(d demand, per []demand) float64 {
	if d.cpu <= 0 && d.mem <= 0 {
		return 0
	}
	best := math.Inf(1)
	for i, a := range per {
		best = min(best, max(d.cpu/a.cpu, d.mem/a.mem))
		for _, b := range per[:i] {
			// x dollars of a and y of b that meet both rows exactly.
			det := a.cpu*b.mem - b.cpu*a.mem
			if det == 0 {
				continue
			}
			x, y := (d.cpu*b.mem-d.mem*b.cpu)/det, (a.cpu*d.mem-a.mem*d.cpu)/det
			if x >= 0 && y >= 0 {
				best = min(best, x+y)
			}
		}
	}
	return best
}
