// Package source gathers the facts that the embedded table is made from. Where
// they come from is behind the interface Source: a folder of files today; the
// AWS APIs can be another.
//
// Its one entry point is Build. It opens nothing itself: a folder is handed over
// as an fs.FS.
package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/catalog"
)

// Source tells what Build needs to know. Each method gives the whole of it, in
// any order; an error says what could not be read and is final. A source that
// speaks to a service is made with whatever it takes to do so.
type Source interface {
	// Stamp says in words where the facts are from and of when they are.
	Stamp() string
	// Types gives the facts of every type, each once.
	Types() ([]catalog.Facts, error)
	// Prices gives on-demand prices: Linux, shared tenancy (dedicated for bare
	// metal), no software, no discount.
	Prices() ([]Price, error)
	// Zones tells where types are offered.
	Zones() ([]Offer, error)
	// Spot tells what spot saves and how often it is interrupted.
	Spot() ([]Spot, error)
}

// Price is what an hour of a type costs in a region.
type Price struct {
	Region, Type string
	Currency     string // USD, CNY
	Amount       float64
}

// Offer says that a type is offered in a zone.
type Offer struct {
	Region, Type string
	Zone         catalog.Zone
}

// Spot is what the spot advisor says of a type in a region.
type Spot struct {
	Region, Type string
	catalog.SpotRisk
}

// Build gathers a table from a source. The notes say what does not fit
// together: a price of a type without facts, a type without a price in a region
// that has prices.
func Build(src Source) (table *catalog.Table, notes []string, err error) {
	types, err := src.Types()
	if err != nil {
		return nil, nil, fmt.Errorf("instance types: %w", err)
	}
	b, err := newBuilder(types)
	if err != nil {
		return nil, nil, fmt.Errorf("instance types: %w", err)
	}
	prices, err := src.Prices()
	if err != nil {
		return nil, nil, fmt.Errorf("prices: %w", err)
	}
	if err := b.prices(prices); err != nil {
		return nil, nil, fmt.Errorf("prices: %w", err)
	}
	offers, err := src.Zones()
	if err != nil {
		return nil, nil, fmt.Errorf("zones: %w", err)
	}
	b.zones(offers)
	spot, err := src.Spot()
	if err != nil {
		return nil, nil, fmt.Errorf("spot: %w", err)
	}
	b.spot(spot)
	table = &catalog.Table{Stamp: src.Stamp(), Types: b.types, Regions: b.sortedRegions()}
	return table, b.sortedNotes(), nil
}

// builder collects regions while the lists come in.
type builder struct {
	types   []catalog.Facts
	index   map[string]int // type → place in types
	regions map[string]*catalog.Region
	missing map[string]int // what has no facts → how many rows
}

func newBuilder(types []catalog.Facts) (*builder, error) {
	b := &builder{types: slices.Clone(types), index: make(map[string]int, len(types)),
		regions: make(map[string]*catalog.Region), missing: make(map[string]int)}
	slices.SortFunc(b.types, func(x, y catalog.Facts) int { return strings.Compare(x.Name, y.Name) })
	for i, f := range b.types {
		if _, twice := b.index[f.Name]; twice {
			return nil, fmt.Errorf("%s comes twice", f.Name)
		}
		b.index[f.Name] = i
	}
	return b, nil
}

func (b *builder) region(name string) *catalog.Region {
	r := b.regions[name]
	if r == nil {
		r = &catalog.Region{Name: name, Currency: "USD"}
		b.regions[name] = r
	}
	return r
}

// place finds a type, and makes a note where there are no facts of it.
func (b *builder) place(list, region, name string) (int, bool) {
	i, ok := b.index[name]
	if !ok {
		b.missing[fmt.Sprintf("%s of %s", list, region)]++
	}
	return i, ok
}

func (b *builder) prices(prices []Price) error {
	for _, p := range prices {
		i, ok := b.place("prices", p.Region, p.Type)
		if !ok {
			continue
		}
		if !(p.Amount > 0 && p.Amount < 1e6) {
			return fmt.Errorf("%s in %s costs %v", p.Type, p.Region, p.Amount)
		}
		r := b.region(p.Region)
		if r.Prices == nil {
			r.Prices = make([]int64, len(b.types))
		}
		r.Currency = p.Currency
		r.Prices[i] = int64(p.Amount*1e6 + 0.5)
	}
	return nil
}

func (b *builder) zones(offers []Offer) {
	for _, o := range offers {
		r := b.region(o.Region)
		if !slices.Contains(r.Zones, o.Zone) {
			r.Zones = append(r.Zones, o.Zone)
		}
	}
	for _, r := range b.regions {
		slices.SortFunc(r.Zones, func(x, y catalog.Zone) int {
			return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(x.ID, y.ID))
		})
	}
	for _, o := range offers {
		i, ok := b.place("zones", o.Region, o.Type)
		if !ok {
			continue
		}
		r := b.region(o.Region)
		if r.Offered == nil {
			r.Offered = make([]int64, len(b.types))
		}
		r.Offered[i] |= 1 << slices.Index(r.Zones, o.Zone)
	}
}

func (b *builder) spot(list []Spot) {
	for _, s := range list {
		i, ok := b.place("spot", s.Region, s.Type)
		if !ok {
			continue
		}
		r := b.region(s.Region)
		if r.Spot == nil {
			r.Spot = make([]catalog.SpotRisk, len(b.types))
		}
		r.Spot[i] = s.SpotRisk
	}
}

func (b *builder) sortedRegions() []catalog.Region {
	var out []catalog.Region
	for _, r := range b.regions {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(x, y catalog.Region) int { return strings.Compare(x.Name, y.Name) })
	return out
}

func (b *builder) sortedNotes() []string {
	var notes []string
	for what, n := range b.missing {
		notes = append(notes, fmt.Sprintf("%s: %d rows of types without facts are left out", what, n))
	}
	for _, r := range b.regions {
		n := 0
		for _, p := range r.Prices {
			if p == 0 {
				n++
			}
		}
		if n > 0 {
			notes = append(notes, fmt.Sprintf("prices of %s: %d types have none", r.Name, n))
		}
	}
	slices.Sort(notes)
	return notes
}
