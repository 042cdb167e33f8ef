package scheduling

import (
	"cmp"
	"math"
	"slices"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// product chooses types, zones and capacity types of which every offered
// combination is usable: all where that is so, else around the cheapest.
func (s *solver) product(n *openNode, usable bitset) *choices {
	p := n.pool
	ch := &choices{}
	if s.tryProduct(p, usable, func(*cluster.Offering) bool { return true }, ch, p.u.byPrice(), false) {
		return ch
	}
	for _, narrow := range narrowings(p.u, usable)[1:] {
		if s.tryProduct(p, usable, narrow, ch, p.u.byPrice(), false) {
			return ch
		}
	}
	if c, ok := s.commitment(p, n.st, n.col, &n.req, n.charge); ok && len(c.types) > 0 {
		return &choices{col: c.col, types: c.types, zones: c.zones, ctypes: c.ctypes}
	}
	off := p.u.cols[n.col].off
	return &choices{col: n.col, types: []int32{p.u.cols[n.col].typ}, zones: []string{off.Zone}, ctypes: []string{off.CapacityType}}
}

// tryProduct collects the first types in an order of the usable columns that pass
// narrow and tells whether they are a product with enough values for minValues;
// least asks for no more than those need. Spot that is dearer than the cheapest
// on-demand choice is no choice.
func (s *solver) tryProduct(p *pool, usable bitset, narrow func(o *cluster.Offering) bool, ch *choices, order []int32, least bool) bool {
	u := p.u
	*ch = choices{col: -1}
	onDemand := -1.0
	for _, i := range u.byPrice() {
		if c := &u.cols[i]; usable.has(int(i)) && c.off.CapacityType == cluster.OnDemand && narrow(c.off) {
			onDemand = c.price
			break
		}
	}
	needed := s.neededTypes(p, usable, narrow, order)
	inTypes := make(map[int32]bool, maxTypes)
	for t := range needed {
		inTypes[t] = true
	}
	kept := newBitset(len(u.cols))
	choice := func(i int32) bool {
		c := &u.cols[i]
		return usable.has(int(i)) && narrow(c.off) && (needed[c.typ] || onDemand < 0 || c.off.CapacityType != cluster.Spot || c.price <= onDemand)
	}
	take := func(i int32) {
		c := &u.cols[i]
		kept.set(int(i))
		if ch.col < 0 || c.price < u.cols[ch.col].price {
			ch.col = i
		}
		if !slices.Contains(ch.zones, c.off.Zone) {
			ch.zones = append(ch.zones, c.off.Zone)
		}
		if !slices.Contains(ch.ctypes, c.off.CapacityType) {
			ch.ctypes = append(ch.ctypes, c.off.CapacityType)
		}
	}
	listed := newBitset(len(u.types))
	for _, i := range order {
		if len(ch.types) == maxTypes {
			break
		}
		c := &u.cols[i]
		if !choice(i) {
			continue
		}
		if !inTypes[c.typ] {
			if least || len(inTypes) >= maxTypes {
				continue
			}
			inTypes[c.typ] = true
		}
		if !listed.has(int(c.typ)) {
			listed.set(int(c.typ))
			ch.types = append(ch.types, c.typ)
		}
		take(i)
	}
	for _, t := range ch.types {
		for i := u.first[t]; i < u.first[t+1]; i++ {
			if !kept.has(int(i)) && choice(i) {
				take(i)
			}
		}
	}
	if ch.col < 0 || !s.wholeProduct(u, ch, usable) || !s.enoughValues(p, kept) {
		return false
	}
	if s.strict(p) {
		u.sortTypes(ch, kept, onDemand)
	}
	return true
}

// wholeProduct tells whether every offered combination of a choice is usable.
func (s *solver) wholeProduct(u *universe, ch *choices, usable bitset) bool {
	for _, t := range ch.types {
		for i := u.first[t]; i < u.first[t+1]; i++ {
			o := u.cols[i].off
			if slices.Contains(ch.zones, o.Zone) && slices.Contains(ch.ctypes, o.CapacityType) && !usable.has(int(i)) && !(o.ReservationID != "" && o.CapacityType != cluster.Reserved) {
				return false
			}
		}
	}
	return true
}

// sortTypes orders the types of a choice by their price: that of the cheapest
// offering which is no spot dearer than the cheapest on-demand one.
func (u *universe) sortTypes(ch *choices, kept bitset, onDemand float64) {
	price := make(map[int32]float64, len(ch.types))
	for _, t := range ch.types {
		best, any := math.Inf(1), math.Inf(1)
		for i := u.first[t]; i < u.first[t+1]; i++ {
			if !kept.has(int(i)) {
				continue
			}
			c := &u.cols[i]
			any = min(any, c.price)
			if c.off.CapacityType != cluster.Spot || onDemand < 0 || c.price <= onDemand {
				best = min(best, c.price)
			}
		}
		if math.IsInf(best, 1) {
			best = any
		}
		price[t] = best
	}
	slices.SortStableFunc(ch.types, func(a, b int32) int {
		return cmp.Or(cmp.Compare(price[a], price[b]), cmp.Compare(a, b))
	})
}

// neededTypes are the first types in an order that give a pool with minValues
// enough different values; they go into the list before others.
func (s *solver) neededTypes(p *pool, usable bitset, narrow func(o *cluster.Offering) bool, order []int32) map[int32]bool {
	if !s.strict(p) {
		return nil
	}
	out := map[int32]bool{}
	for _, mv := range p.minValues {
		seen := map[string]bool{}
		for pass := 0; pass < 2; pass++ {
			for _, i := range order {
				c := &p.u.cols[i]
				// What is in the list for another key counts for this one too.
				if !usable.has(int(i)) || !narrow(c.off) || pass == 0 && !out[c.typ] {
					continue
				}
				if len(seen) >= mv.n {
					break
				}
				if v, ok := p.u.columnValue(mv.key, int(i)); ok && !seen[v] {
					seen[v] = true
					out[c.typ] = true
				}
			}
		}
	}
	return out
}

// enoughValues tells whether columns have enough different values for a pool's
// minValues.
func (s *solver) enoughValues(p *pool, cols bitset) bool {
	if s.p.Options.MinValuesBestEffort {
		return true
	}
	for _, mv := range p.minValues {
		if len(p.u.valuesIn(mv.key, cols)) < mv.n {
			return false
		}
	}
	return true
}
