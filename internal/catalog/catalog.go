package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// Catalog is the instance types of one region, or those of the user. It does not
// change after it has been made.
type Catalog struct {
	region, currency, stamp string
	warnings                []string
	entries                 []entry // sorted by name
	market                  market  // of the embedded table

	mu     sync.Mutex
	made   map[string][]cluster.InstanceType // by the settings of a class
	labels map[labelSet][]map[string]string  // parallel to entries
}

// entry is one type: of the embedded table (facts), or of the user's own
// catalogue (literal).
type entry struct {
	name    string
	facts   *Facts
	at      int // place in the columns of the region
	literal *cluster.InstanceType
}

func (e *entry) arch() string {
	if e.facts != nil {
		return e.facts.Arch
	}
	return e.literal.Arch
}

// maxMade bounds what the catalogue remembers, for a process that sees many
// classes or many states of their reservations.
const maxMade = 16

// Region is the region that the catalogue is of, "" for a user's own.
func (c *Catalog) Region() string { return c.region }

// Currency is what prices are in: USD, or CNY in the regions of China.
func (c *Catalog) Currency() string { return c.currency }

// Stamp says in words of when the facts are; "" for a user's own catalogue.
func (c *Catalog) Stamp() string { return c.stamp }

// Warnings says what a user should know before trusting the catalogue, each in a
// sentence without a full stop. Most catalogues have none.
func (c *Catalog) Warnings() []string { return slices.Clone(c.warnings) }

// SpotRisk is what the spot advisor says of a type in the region; ok is false
// where it says nothing.
func (c *Catalog) SpotRisk(instanceType string) (risk SpotRisk, ok bool) {
	i, found := slices.BinarySearchFunc(c.entries, instanceType, func(e entry, name string) int {
		return strings.Compare(e.name, name)
	})
	if !found || c.entries[i].facts == nil || c.entries[i].at >= len(c.market.spot) {
		return SpotRisk{}, false
	}
	risk = c.market.spot[c.entries[i].at]
	return risk, risk != SpotRisk{}
}

// InstanceTypes returns the types that a node class can launch, sorted by name,
// with the class's settings applied; nil is an AL2023 class that sets nothing.
// Offerings are sorted by zone, capacity type and reservation. A type that is
// not sold in the region has no offerings.
//
// The result is shared with other callers and must not be changed, labels and
// offerings included.
//
// A quantity of the class that does not parse counts as not set: validating is
// done before. Of a user's own catalogue the numbers are taken as they stand; of
// the class only maxPods, the architectures of its images, its zones and its
// reservations count.
func (c *Catalog) InstanceTypes(class *cluster.NodeClass) []cluster.InstanceType {
	if class == nil {
		class = &cluster.NodeClass{}
	}
	key := classKey(class)
	c.mu.Lock()
	defer c.mu.Unlock()
	if types, ok := c.made[key]; ok {
		return types
	}
	types := c.make(class)
	if c.made == nil || len(c.made) >= maxMade {
		c.made = make(map[string][]cluster.InstanceType)
	}
	c.made[key] = types
	return types
}

// classKey writes down everything of a class that makes a difference.
func classKey(class *cluster.NodeClass) string {
	settings := *class
	settings.Name = ""
	key, err := json.Marshal(&settings)
	if err != nil { // a struct of plain values always marshals
		return fmt.Sprintf("%p", class)
	}
	return string(key)
}

// make does the work of InstanceTypes.
func (c *Catalog) make(class *cluster.NodeClass) []cluster.InstanceType {
	s := settingsOf(class)
	labels := c.labelsFor(labelSet{os: s.os, build: s.windowsBuild, tenancy: s.tenancy})
	seller := c.newSeller(s)
	out := make([]cluster.InstanceType, 0, len(c.entries))
	var amounts slab[cluster.Resource]
	for i := range c.entries {
		e := &c.entries[i]
		if !s.accepts(e) {
			continue
		}
		t := cluster.InstanceType{Name: e.name, Labels: labels[i]}
		if e.literal != nil {
			t = *e.literal
			s.capPods(&t)
		} else {
			t.Arch, t.OS = e.facts.Arch, s.os
			t.Exotic = exotic(e.facts)
			t.VolumeLimit = volumeLimit(e.facts)
			s.resources(e.facts, &t, &amounts)
		}
		t.Offerings = seller.offerings(e)
		out = append(out, t)
	}
	return out
}

// slab hands out pieces of large arrays, so that ten thousand short lists are a
// few allocations.
type slab[T any] struct{ free []T }

// take moves a list into the slab. Appending to the result does not reach its
// neighbours.
func (s *slab[T]) take(list []T) []T {
	if len(list) == 0 {
		return nil
	}
	if len(s.free) < len(list) {
		s.free = make([]T, max(4096, len(list)))
	}
	n := copy(s.free, list)
	out := s.free[:n:n]
	s.free = s.free[n:]
	return out
}
