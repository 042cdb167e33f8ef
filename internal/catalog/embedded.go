package catalog

import (
	_ "embed" // for the table
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed table.bin
var tableBytes []byte

// decodeEmbedded reads the table once a process: it is the same for every region.
var decodeEmbedded = sync.OnceValues(func() (*Table, error) { return Decode(tableBytes) })

// home is the region whose prices and types stand in where a region's own are
// not known.
const home = "us-east-1"

var regionForm = regexp.MustCompile(`^[a-z]{2,}(-[a-z]+)+-[0-9]{1,2}$`)

// Embedded returns the catalogue of a region by the table that is built in. A
// region that the table does not know in full is given what us-east-1 has, called
// estimates; Catalog.Warnings says what. An error says that the region's name is
// not one.
func Embedded(region string) (*Catalog, error) {
	table, err := decodeEmbedded()
	if err != nil {
		return nil, err
	}
	return New(table, region)
}

// New makes the catalogue of a region from a table, which must not change
// afterwards.
func New(table *Table, region string) (*Catalog, error) {
	if !regionForm.MatchString(region) {
		return nil, fmt.Errorf("%q is not the name of an AWS region: write it as us-east-1 is written", region)
	}
	own, known := table.Region(region)
	if !known {
		own = &Region{Name: region, Currency: "USD"}
	}
	base, hasHome := table.Region(home)
	if !hasHome {
		base = &Region{Name: home, Currency: "USD"}
	}
	c := &Catalog{region: region, currency: own.Currency, stamp: table.Stamp}
	m := market{region: own, prices: own.Prices, offered: own.Offered, spot: own.Spot}
	if m.prices == nil {
		m.prices, m.borrowed, c.currency = base.Prices, true, base.Currency
	}
	if m.spot == nil {
		m.spot = base.Spot
	}
	if m.offered == nil {
		m.guessed = true
		m.zones = guessZones(region)
	} else {
		m.zones = own.Zones
	}
	c.warnings = m.warnings(table, known)
	c.entries = make([]entry, 0, len(table.Types))
	for i := range table.Types {
		if f := &table.Types[i]; f.Arch == "amd64" || f.Arch == "arm64" {
			c.entries = append(c.entries, entry{name: f.Name, facts: f, at: i})
		}
	}
	c.market = m
	return c, nil
}

// guessZones gives three zones to a region of which none are known.
func guessZones(region string) []Zone {
	out := make([]Zone, 0, 3)
	for _, letter := range []string{"a", "b", "c"} {
		out = append(out, Zone{Name: region + letter})
	}
	return out
}

// warnings says what is not the region's own.
func (m *market) warnings(table *Table, known bool) []string {
	region := m.region.Name
	var out []string
	if !known {
		var names []string
		for i := range table.Regions {
			names = append(names, table.Regions[i].Name)
		}
		slices.Sort(names)
		out = append(out, fmt.Sprintf("the catalogue does not know the region %s: check its name, or take it that prices and zones are guesses; known are %s", region, strings.Join(names, ", ")))
	}
	if m.borrowed {
		out = append(out, fmt.Sprintf("the catalogue has no prices of %s: those of %s stand in, as estimates", region, home))
	}
	if m.guessed {
		out = append(out, fmt.Sprintf("the catalogue has no zones of %s: it is taken that every type is offered in each zone of the node class's subnets, or in %s, %s and %s where those are not resolved",
			region, m.zones[0].Name, m.zones[1].Name, m.zones[2].Name))
	}
	if !m.borrowed && m.region.Currency != "USD" {
		out = append(out, fmt.Sprintf("prices of %s are in %s, not in USD", region, m.region.Currency))
	}
	return out
}
