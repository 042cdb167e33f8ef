package plan

import (
	"math"
	"slices"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// choice is what a new node may be launched as: every offer of the listed types
// in the listed zones with the listed capacity types. New nodes with the same
// lists share one.
type choice struct {
	id       int32
	t        *template
	offers   []int32 // by type in the order of the list
	byType   []int32 // the first of each type
	cheapest int32   // an offer; -1 when there are none
	wrong    []wrong // what is wrong with it whatever pods it takes
	reserved []string
	fits     []fit // by selector

	room    []int64 // by dimension, beside the daemons, of the tightest offer
	tightAt []int32 // the offer that room is of
	common  map[string]commonLabel
	largest map[string]int64
}

// wrong is a violation without its node.
type wrong struct {
	rule   Rule
	detail string
}

// commonLabel is the value of a label on every offer of a choice.
type commonLabel struct {
	value string
	ok    bool
}

// choiceKey is what makes two new nodes choose from the same offers. Lists are
// numbers that stand for their content.
type choiceKey struct {
	t                   *template
	types, zones, kinds int32
	reservation         string
}

// lists numbers lists of texts, so that equal ones are compared once.
type lists struct {
	byPlace map[listPlace]int32
	byText  map[string]int32
}

type listPlace struct {
	first *string
	n     int
}

func newLists() lists { return lists{map[listPlace]int32{}, map[string]int32{}} }

func (c *checker) listID(l []string) int32 {
	if len(l) == 0 {
		return 0
	}
	place := listPlace{&l[0], len(l)}
	if id, ok := c.lists.byPlace[place]; ok {
		return id
	}
	c.buf = c.buf[:0]
	for _, s := range l {
		c.buf = appendText(c.buf, s)
	}
	id, ok := c.lists.byText[string(c.buf)]
	if !ok {
		id = int32(len(c.lists.byText)) + 1
		c.lists.byText[string(c.buf)] = id
	}
	c.lists.byPlace[place] = id
	return id
}

// checkNewNodes looks at what each new node may be, whatever pods it takes.
func (c *checker) checkNewNodes() {
	for _, s := range c.sites {
		if s.plan == nil {
			continue
		}
		n := s.plan
		if len(n.Pods) == 0 {
			c.faults.say(RulePlacement, n.Name, "", "takes no pod")
		}
		v := c.view(n.NodePool)
		if v == nil || v.spec.Deleting || v.spec.Replicas != nil {
			c.faults.say(RuleNodePool, n.Name, "", "NodePool %q makes no nodes", n.NodePool)
			continue
		}
		ch := c.choiceOf(c.template(v, n), n)
		for _, w := range ch.wrong {
			c.faults.say(w.rule, n.Name, "", "%s", w.detail)
		}
		if len(ch.offers) == 0 {
			continue
		}
		s.choice = ch
		c.checkPick(n, ch)
		c.checkLabels(n, ch)
	}
}

// choiceOf finds the choice of a new node.
func (c *checker) choiceOf(t *template, n *NewNode) *choice {
	key := choiceKey{t: t, types: c.listID(n.InstanceTypes), zones: c.listID(n.Zones), kinds: c.listID(n.CapacityTypes), reservation: n.ReservationID}
	if ch := c.choiceIndex[key]; ch != nil {
		return ch
	}
	ch := &choice{id: int32(len(c.choices)), t: t, cheapest: -1, common: map[string]commonLabel{}, largest: map[string]int64{}}
	c.choices = append(c.choices, ch)
	c.choiceIndex[key] = ch
	c.collect(ch, n)
	ch.checkOffers()
	c.checkMinValues(ch)
	return ch
}

// collect gathers the offers and says which parts of the lists have none.
func (c *checker) collect(ch *choice, n *NewNode) {
	v := ch.t.pool
	zones, kinds := c.numbers(n.Zones), c.numbers(n.CapacityTypes)
	zoneSeen, kindSeen := make([]bool, len(zones)), make([]bool, len(kinds))
	least := math.Inf(1)
	for _, name := range n.InstanceTypes {
		before := len(ch.offers)
		if t, ok := v.byName[name]; ok {
			for o := v.first[t]; o < v.first[t+1]; o++ {
				f := &v.offers[o]
				z, k := slices.Index(zones, f.zone), slices.Index(kinds, f.kind)
				if z < 0 || k < 0 || f.CapacityType == cluster.Reserved && f.ReservationID != n.ReservationID {
					continue
				}
				zoneSeen[z], kindSeen[k] = true, true
				ch.offers = append(ch.offers, o)
				if f.Price < least {
					least, ch.cheapest = f.Price, o
				}
				if f.CapacityType == cluster.Reserved && !slices.Contains(ch.reserved, f.ReservationID) {
					ch.reserved = append(ch.reserved, f.ReservationID)
				}
			}
		}
		if len(ch.offers) > before {
			ch.byType = append(ch.byType, ch.offers[before])
		} else {
			ch.note(RuleChoice, "instance type "+name+" is listed and not offered with the rest")
		}
	}
	for i, ok := range zoneSeen {
		if !ok {
			ch.note(RuleChoice, "zone "+n.Zones[i]+" is listed and not offered with the rest")
		}
	}
	for i, ok := range kindSeen {
		if !ok {
			ch.note(RuleChoice, "capacity type "+n.CapacityTypes[i]+" is listed and not offered with the rest")
		}
	}
	if len(ch.offers) == 0 {
		ch.note(RuleChoice, "nothing that it lists is offered")
	}
}

// numbers gives the numbers of some values.
func (c *checker) numbers(names []string) []int32 {
	out := make([]int32, len(names))
	for i, name := range names {
		out[i] = c.value(name)
	}
	return out
}

// among are the offers among which a matter differs: all, or one of each type.
func (ch *choice) among(byOffer bool) []int32 {
	if byOffer {
		return ch.offers
	}
	return ch.byType
}

func (ch *choice) note(rule Rule, detail string) { ch.wrong = append(ch.wrong, wrong{rule, detail}) }

// checkOffers holds the offers against the pool's requirements.
func (ch *choice) checkOffers() {
	for _, o := range ch.offers {
		if !ch.t.mayLaunch(o) {
			ch.note(RuleNodePool, "as "+ch.t.describe(o)+": "+ch.t.refusal(o))
			return
		}
	}
}

// checkMinValues counts the values that the offers leave to choose from.
func (c *checker) checkMinValues(ch *choice) {
	if c.in.MinValuesBestEffort || len(ch.offers) == 0 {
		return
	}
	for i := range ch.t.pool.spec.Requirements {
		r := &ch.t.pool.spec.Requirements[i]
		if r.MinValues <= 0 {
			continue
		}
		column, seen := c.column(ch.t, r.Key), map[int32]bool{}
		for _, o := range ch.among(column.byOffer) {
			if v := column.at(o); v >= 0 {
				seen[v] = true
			}
		}
		if len(seen) < r.MinValues {
			ch.note(RuleMinValues, "fewer values of "+r.Key+" to choose from than NodePool "+ch.t.pool.spec.Name+" wants")
		}
	}
}

// describe writes an offer as people do.
func (t *template) describe(o int32) string {
	f := &t.pool.offers[o]
	return t.pool.types[f.typ].Name + "/" + f.Zone + "/" + f.CapacityType
}

// pick is the report's own choice among the offers, -1 where it is not there.
func (ch *choice) pick(n *NewNode) int32 {
	v := ch.t.pool
	t, ok := v.byName[n.InstanceType]
	if !ok || !slices.Contains(n.InstanceTypes, n.InstanceType) || !slices.Contains(n.Zones, n.Zone) || !slices.Contains(n.CapacityTypes, n.CapacityType) {
		return -1
	}
	for o := v.first[t]; o < v.first[t+1]; o++ {
		f := &v.offers[o]
		if f.Zone == n.Zone && f.CapacityType == n.CapacityType && (f.CapacityType != cluster.Reserved || f.ReservationID == n.ReservationID) {
			return o
		}
	}
	return -1
}

// checkPick holds the report's choice, its price and its room against what is
// offered.
func (c *checker) checkPick(n *NewNode, ch *choice) {
	v := ch.t.pool
	o := ch.pick(n)
	if o < 0 {
		c.faults.say(RuleChoice, n.Name, "", "its choice %s/%s/%s is not among what it lists and is offered", n.InstanceType, n.Zone, n.CapacityType)
		return
	}
	if f := &v.offers[o]; !near(n.PricePerHour, f.Price) {
		c.faults.say(RulePrice, n.Name, "", "$%g an hour, %s is offered at $%g", n.PricePerHour, ch.t.describe(o), f.Price)
	} else if least := v.offers[ch.cheapest].Price; !near(f.Price, least) {
		c.faults.say(RulePrice, n.Name, "", "$%g an hour, the cheapest that it lists is %s at $%g", n.PricePerHour, ch.t.describe(ch.cheapest), least)
	}
	typ := &v.types[v.offers[o].typ]
	if !sameSlice(n.Allocatable, typ.Allocatable) && !slices.Equal(n.Allocatable, typ.Allocatable) {
		c.faults.say(RuleSums, n.Name, "", "its allocatable resources are not those of %s", typ.Name)
	}
	if m := c.written[n.Name]; m != nil && !sameSlice(m.Capacity, typ.Capacity) && !slices.Equal(m.Capacity, typ.Capacity) {
		c.faults.say(RuleRecords, n.Name, "", "the capacity of its claim is not that of %s", typ.Name)
	}
}

// checkLabels asks that what a node's labels say of the launch is true of every
// offer.
func (c *checker) checkLabels(n *NewNode, ch *choice) {
	bad := ""
	for k, l := range n.Labels {
		if !ofLaunch(k) || k == cluster.LabelHostname {
			continue
		}
		if common := c.commonLabel(ch, k); (!common.ok || common.value != l) && (bad == "" || k < bad) {
			bad = k
		}
	}
	if bad != "" {
		c.faults.say(RuleRecords, n.Name, "", "its label %s=%s is not true of all that it may be launched as", bad, n.Labels[bad])
	}
}

// commonLabel is the value of a label that all offers have.
func (c *checker) commonLabel(ch *choice, key string) commonLabel {
	if l, ok := ch.common[key]; ok {
		return l
	}
	column := c.column(ch.t, key)
	first := column.at(ch.offers[0])
	var out commonLabel
	if first >= 0 && !slices.ContainsFunc(ch.among(column.byOffer), func(o int32) bool { return column.at(o) != first }) {
		out = commonLabel{c.values[first], true}
	}
	ch.common[key] = out
	return out
}

// fit says how many offers of a choice satisfy a selector.
type fit uint8

const (
	fitUnknown fit = iota
	fitNone
	fitSome
	fitAll
)

// fitsChoice tells how far a choice satisfies a selector.
func (c *checker) fitsChoice(ch *choice, id int32) fit {
	if id == everywhere {
		return fitAll
	}
	for int(id) >= len(ch.fits) {
		ch.fits = append(ch.fits, fitUnknown)
	}
	if ch.fits[id] == fitUnknown {
		n, among := 0, ch.among(c.selectors[id].byOffer)
		for _, o := range among {
			if c.offerFits(ch.t, id, o) {
				n++
			}
		}
		switch n {
		case 0:
			ch.fits[id] = fitNone
		case len(among):
			ch.fits[id] = fitAll
		default:
			ch.fits[id] = fitSome
		}
	}
	return ch.fits[id]
}

// misfit is the first offer of a choice that does not satisfy a selector.
func (c *checker) misfit(ch *choice, id int32) int32 {
	for _, o := range ch.offers {
		if !c.offerFits(ch.t, id, o) {
			return o
		}
	}
	return ch.offers[0]
}
