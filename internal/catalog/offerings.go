package catalog

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// market is what a region sells, by the table.
type market struct {
	region   *Region
	zones    []Zone
	prices   []int64 // by place of the type; nil: nothing has a price
	offered  []int64 // likewise; nil: not known
	spot     []SpotRisk
	borrowed bool // prices are those of another region
	guessed  bool // zones are not known
}

// sale is a zone in which the nodes of a class can be, and what is sold there.
type sale struct {
	name, id string
	bit      int    // of the zone in market.offered; -1: not known there
	key      string // what the estimate of the spot price is derived from
}

// seller makes the offerings of one class.
type seller struct {
	market   *market
	class    *cluster.NodeClass
	sales    []sale // sorted by name
	reserved map[string][]cluster.CapacityReservation
	// estimate says that on-demand prices are not those that will be paid: they
	// are of another region, or the table's, which are for Linux and shared
	// tenancy, stand in for what costs more.
	estimate bool
	room     slab[cluster.Offering]
}

func (c *Catalog) newSeller(set *settings) *seller {
	class := set.class
	s := &seller{market: &c.market, class: class,
		estimate: c.market.borrowed || set.os == "windows" || set.tenancy != "default"}
	for _, r := range class.Reserved {
		if s.reserved == nil {
			s.reserved = make(map[string][]cluster.CapacityReservation)
		}
		s.reserved[r.InstanceType] = append(s.reserved[r.InstanceType], r)
	}
	if c.market.region != nil {
		s.sales = c.market.sales(class)
	}
	return s
}

// sales lists the zones of a class as the table knows them. The id of a zone,
// where the class tells it, says more than its name: which name stands for which
// zone differs from account to account, and what is sold depends on the zone.
func (m *market) sales(class *cluster.NodeClass) []sale {
	names := slices.Clone(class.Zones)
	if len(names) == 0 {
		for _, z := range m.zones {
			names = append(names, z.Name)
		}
	}
	slices.Sort(names)
	out := make([]sale, 0, len(names))
	for _, name := range slices.Compact(names) {
		s := sale{name: name, id: class.ZoneIDs[name], bit: -1}
		i := -1
		if s.id != "" {
			i = slices.IndexFunc(m.zones, func(z Zone) bool { return z.ID == s.id })
		}
		if i < 0 {
			i = slices.IndexFunc(m.zones, func(z Zone) bool { return z.Name == name })
		}
		if i >= 0 {
			s.bit = i
			if s.id == "" {
				s.id = m.zones[i].ID
			}
		}
		s.key = cmp.Or(s.id, s.name)
		out = append(out, s)
	}
	return out
}

// sold tells whether a type is offered in a zone. Where zones are a guess, it is
// in each that the class names.
func (m *market) sold(s sale, at int) bool {
	if m.guessed {
		return true
	}
	return s.bit >= 0 && m.offered[at]>>s.bit&1 == 1
}

// onDemand is the price of a type in the currency an hour, 0 where it has none.
func (m *market) onDemand(at int) float64 {
	if at >= len(m.prices) {
		return 0
	}
	return float64(m.prices[at]) / 1e6
}

// offerings lists where nodes of the class can be of the type, sorted.
func (s *seller) offerings(e *entry) []cluster.Offering {
	var list []cluster.Offering
	price := 0.0
	if e.literal != nil {
		list, price = s.literal(e.literal.Offerings)
	} else {
		var buf [2 * maxZones]cluster.Offering
		price = s.market.onDemand(e.at)
		list = s.listed(e, price, buf[:0])
	}
	if reserved := s.reserved[e.name]; len(reserved) > 0 {
		for i := range reserved {
			if o, ok := s.reservation(&reserved[i], price); ok {
				list = append(list, o)
			}
		}
		slices.SortStableFunc(list, compareOfferings)
	}
	return s.room.take(list)
}

// listed adds what the table offers of a type.
func (s *seller) listed(e *entry, price float64, list []cluster.Offering) []cluster.Offering {
	if price == 0 {
		return list
	}
	saving := int64(0)
	if e.at < len(s.market.spot) && !e.facts.NoSpot {
		saving = s.market.spot[e.at].Saving
	}
	for i := range s.sales {
		z := s.sales[i]
		if !s.market.sold(z, e.at) {
			continue
		}
		o := cluster.Offering{Zone: z.name, ZoneID: z.id, CapacityType: cluster.OnDemand, Price: price, Estimate: s.estimate}
		list = append(list, o)
		if saving > 0 {
			o.CapacityType, o.Estimate = cluster.Spot, true
			o.Price = spotEstimate(price, saving, e.name, z.key)
			list = append(list, o)
		}
	}
	return list
}

// spotEstimate is what spot may cost: the on-demand price less the saving that
// the spot advisor gives as the average of a region, moved by up to 5 % either
// way so that zones differ as they do. The move is drawn from the names of the
// type and the zone: it says nothing of which zone is cheaper in truth, and is
// the same in every run.
func spotEstimate(onDemand float64, saving int64, name, zone string) float64 {
	draw := float64(mix(name, zone)>>11) / (1 << 53) // in [0, 1)
	estimate := onDemand * float64(100-saving) / 100 * (0.95 + 0.1*draw)
	return math.Max(math.Round(estimate*1e6), 1) / 1e6
}

// mix is FNV-1a over two strings, finished by a multiplication and a shift so
// that the high bits depend on the last letters too.
func mix(a, b string) uint64 {
	h := uint64(14695981039346656037)
	for _, s := range [...]string{a, "/", b} {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
	}
	h = (h ^ h>>32) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}

// reservedShare is what a reserved instance is taken to cost of its on-demand
// price: it is paid for already, so that next to nothing is left, but a larger
// one still costs more than a smaller one.
const reservedShare = 10_000_000

// reservation is what a reservation offers to the class.
func (s *seller) reservation(r *cluster.CapacityReservation, onDemand float64) (cluster.Offering, bool) {
	if len(s.class.Zones) > 0 && !slices.Contains(s.class.Zones, r.Zone) {
		return cluster.Offering{}, false
	}
	o := cluster.Offering{
		Zone: r.Zone, ZoneID: s.class.ZoneIDs[r.Zone], CapacityType: cluster.Reserved,
		Price:         onDemand / reservedShare,
		ReservationID: r.ID, ReservationType: cmp.Or(r.Type, "default"),
		ReservationCount:         max(r.Available, 0),
		ReservationInterruptible: r.Interruptible,
		Unavailable:              r.Available <= 0 || r.Expiring,
	}
	if onDemand == 0 { // sold in capacity blocks only: any price will do
		o.Price = 1.0 / reservedShare
	}
	if i := slices.IndexFunc(s.sales, func(z sale) bool { return z.name == r.Zone }); o.ZoneID == "" && i >= 0 {
		o.ZoneID = s.sales[i].id
	}
	return o, true
}

// literal gives the offerings of a user's own type in the zones of the class,
// and the price on demand that a reservation is priced by.
func (s *seller) literal(all []cluster.Offering) (list []cluster.Offering, price float64) {
	for _, o := range all {
		if o.CapacityType == cluster.OnDemand && price == 0 {
			price = o.Price
		}
		if len(s.class.Zones) > 0 && !slices.Contains(s.class.Zones, o.Zone) {
			continue
		}
		if id := s.class.ZoneIDs[o.Zone]; id != "" {
			o.ZoneID = id
		}
		list = append(list, o)
	}
	return list, price
}

// compareOfferings orders by zone, capacity type and reservation.
func compareOfferings(a, b cluster.Offering) int {
	return cmp.Or(
		strings.Compare(a.Zone, b.Zone),
		strings.Compare(a.CapacityType, b.CapacityType),
		strings.Compare(a.ReservationID, b.ReservationID),
	)
}
