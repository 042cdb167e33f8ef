package catalog

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// WithOverlays applies NodeOverlays to instance types and returns what comes of
// it; the arguments are not changed, and types that no overlay matches are shared
// with the result.
//
// An overlay matches an offering whose labels satisfy all of its requirements:
// those of the type, those of the offering (zone, capacity type, reservation) and
// those given, which are the labels that a NodePool gives its nodes, its name
// (karpenter.sh/nodepool) included.
//
// Of the overlays that match, the one with the highest weight sets the price of
// an offering, and each extended resource has the amount that the highest weight
// gives it; at equal weight the name that sorts first wins. A price never falls
// below 0. One that an overlay sets outright is no estimate any more. The price
// of a reserved offering, which is paid for, is changed only by an overlay that
// requires a capacity type. Resources are a type's and not an offering's: they are
// set where the overlay matches any of its offerings.
func WithOverlays(types []cluster.InstanceType, overlays []cluster.NodeOverlay, poolLabels map[string]string) []cluster.InstanceType {
	if len(overlays) == 0 {
		return types
	}
	ordered := slices.Clone(overlays)
	slices.SortStableFunc(ordered, func(a, b cluster.NodeOverlay) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Name, b.Name))
	})
	out := slices.Clone(types)
	for i := range out {
		applyOverlays(&out[i], ordered, poolLabels)
	}
	return out
}

// applyOverlays changes one type; overlays come by falling weight.
func applyOverlays(t *cluster.InstanceType, overlays []cluster.NodeOverlay, poolLabels map[string]string) {
	var offerings []cluster.Offering // a copy, once one is needed
	priced := make([]bool, len(t.Offerings))
	extended := make(map[string]int64)
	for i := range overlays {
		o := &overlays[i]
		if !mayMatch(o, t, poolLabels) {
			continue
		}
		matched := len(t.Offerings) == 0
		for j := range t.Offerings {
			if !matchesOffering(o, &t.Offerings[j]) {
				continue
			}
			matched = true
			if priced[j] || !setsPrice(o, &t.Offerings[j]) {
				continue
			}
			if offerings == nil {
				offerings = slices.Clone(t.Offerings)
			}
			reprice(o, &offerings[j])
			priced[j] = true
		}
		if matched {
			mergeCapacity(extended, o.Capacity)
		}
	}
	if offerings != nil {
		t.Offerings = offerings
	}
	for _, name := range slices.Sorted(maps.Keys(extended)) {
		t.Capacity = t.Capacity.With(name, extended[name])
		t.Allocatable = t.Allocatable.With(name, extended[name])
	}
}

// mayMatch looks at the requirements that do not depend on the offering.
func mayMatch(o *cluster.NodeOverlay, t *cluster.InstanceType, poolLabels map[string]string) bool {
	labels := func(key string) (string, bool) {
		if v, ok := t.Labels[key]; ok {
			return v, true
		}
		v, ok := poolLabels[key]
		return v, ok
	}
	for i := range o.Requirements {
		r := &o.Requirements[i]
		if !offeringDecides(r.Key) && !matches(r, labels) {
			return false
		}
	}
	return true
}

// matchesOffering looks at the requirements that do.
func matchesOffering(o *cluster.NodeOverlay, offering *cluster.Offering) bool {
	labels := func(key string) (string, bool) {
		v, found, _ := offeringLabel(offering, key)
		return v, found
	}
	for i := range o.Requirements {
		r := &o.Requirements[i]
		if offeringDecides(r.Key) && !matches(r, labels) {
			return false
		}
	}
	return true
}

func offeringDecides(key string) bool {
	_, _, mine := offeringLabel(&cluster.Offering{}, cluster.NormalLabel(key))
	return mine
}

// setsPrice tells whether an overlay that matches an offering has a say in its
// price.
func setsPrice(o *cluster.NodeOverlay, offering *cluster.Offering) bool {
	if o.Price == nil && o.Adjustment == nil {
		return false
	}
	if offering.CapacityType != cluster.Reserved {
		return true
	}
	return slices.ContainsFunc(o.Requirements, func(r cluster.Requirement) bool {
		return cluster.NormalLabel(r.Key) == cluster.LabelCapacityType
	})
}

// reprice gives an offering the price of an overlay.
func reprice(o *cluster.NodeOverlay, offering *cluster.Offering) {
	price := offering.Price
	switch {
	case o.Price != nil:
		price, offering.Estimate = *o.Price, false
	case o.Percent:
		price *= 1 + *o.Adjustment/100
	default:
		price += *o.Adjustment
	}
	if !(price > 0) { // also what is not a number
		price = 0
	}
	offering.Price = math.Min(price, math.MaxFloat32)
}

// mergeCapacity adds the extended resources that nothing of a higher weight has
// set. What the machine itself decides is not an overlay's to change.
func mergeCapacity(extended map[string]int64, capacity cluster.Resources) {
	for _, r := range capacity {
		switch r.Name {
		case cluster.CPU, cluster.Memory, cluster.EphemeralStorage, cluster.Pods:
			continue
		}
		if _, set := extended[r.Name]; !set {
			extended[r.Name] = max(r.Amount, 0)
		}
	}
}
