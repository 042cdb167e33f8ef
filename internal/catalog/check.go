package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// What a machine may have at most. The largest that exist have a tenth of it.
const (
	maxMilli        = 10_000_000 // 10,000 cores
	maxMemoryMiB    = 512 << 20  // 512 TiB
	maxEphemeralGiB = 1 << 20    // 1 PiB
	maxTypePods     = 10_000
	maxGPUs         = 1_024
	maxPrice        = 100_000 // an hour
	maxReservation  = 1_000_000
	maxOfferings    = 1_000 // a type
)

// checker finds what is wrong with one entry.
type checker struct {
	where  string
	parser *parser
	bad    bool
}

// add notes an error of a field; the rest of the sentence follows its name.
func (c *checker) add(field, format string, args ...any) {
	c.bad = true
	c.parser.errs = append(c.parser.errs, fmt.Errorf("%s: %s %s", c.where, field, fmt.Sprintf(format, args...)))
}

// between notes a number that lies outside of its bounds.
func (c *checker) between(field string, v, lo, hi int64) {
	if v < lo || v > hi {
		c.add(field, "is %d: write a whole number from %d to %d", v, lo, hi)
	}
}

// badJSON notes an entry that could not be read as one.
func (c *checker) badJSON(err error) {
	var te *json.UnmarshalTypeError
	if errors.As(err, &te) && te.Field != "" {
		c.add(te.Field, "is a JSON %s: write %s", te.Value, wanted(te.Type.String()))
		return
	}
	if errors.As(err, &te) {
		c.add("the entry", "is a JSON %s: write an object with the fields %s", te.Value, typeFields)
		return
	}
	c.bad = true
	c.parser.errs = append(c.parser.errs, fmt.Errorf("%s: %w", c.where, err))
}

// wanted says in words what a Go type is written as.
func wanted(goType string) string {
	switch {
	case strings.Contains(goType, "float"):
		return "a number, without quotes"
	case strings.Contains(goType, "int"):
		return "a whole number, without quotes"
	case goType == "bool":
		return "true or false, without quotes"
	case goType == "string":
		return "a string in quotes"
	case strings.HasPrefix(goType, "[]"):
		return "a list"
	}
	return "an object"
}

// unknownField notes a field that an entry cannot have, or has twice.
func (c *checker) unknownField(err error) {
	fields := typeFields
	if strings.Contains(err.Error(), `"offerings[`) {
		fields = offeringFields
	}
	c.bad = true
	if strings.HasPrefix(err.Error(), "duplicate") {
		c.parser.errs = append(c.parser.errs, fmt.Errorf("%s: %w: leave one of the two out", c.where, err))
		return
	}
	c.parser.errs = append(c.parser.errs, fmt.Errorf("%s: %w: the fields are %s", c.where, err, fields))
}

// check looks at every field of an entry.
func (c *checker) check(r *rawType) {
	switch {
	case r.Name == "":
		c.add("name", "is missing: every instance type needs one")
	case c.label(r.Name) != nil:
		c.add("name", "is not fit for a label value: %v", c.label(r.Name))
	}
	if r.Arch != "" && r.Arch != "amd64" && r.Arch != "arm64" {
		c.add("arch", "is %q: write amd64 or arm64", shorten(r.Arch))
	}
	for _, os := range r.OS {
		if os != "linux" && os != "windows" {
			c.add("os", "is %q: write linux or windows", shorten(os))
		}
	}
	c.between("cpuMilli", r.CPUMilli, 1, maxMilli)
	c.between("memoryMiB", r.MemoryMiB, 1, maxMemoryMiB)
	if r.Pods != nil {
		c.between("pods", *r.Pods, 1, maxTypePods)
	}
	c.between("ephemeralGiB", r.EphemeralGiB, 0, maxEphemeralGiB)
	c.between("overheadCpuMilli", r.OverheadCPUMilli, 0, max(r.CPUMilli, 0))
	c.between("overheadMemoryMiB", r.OverheadMemoryMiB, 0, max(r.MemoryMiB, 0))
	c.gpu(r)
	c.checkLabels(r)
	c.offerings(r.Offerings)
}

func (c *checker) gpu(r *rawType) {
	c.between("gpu", r.GPU, 0, maxGPUs)
	switch {
	case r.GPUResource == "":
	case r.GPU == 0:
		c.add("gpuResource", "is given and gpu is not: write gpu, the number of devices, or leave gpuResource out")
	case !strings.Contains(r.GPUResource, "/") || len(content.IsLabelKey(r.GPUResource)) > 0:
		c.add("gpuResource", "is %q: write the name of an extended resource, such as %s", shorten(r.GPUResource), resourceNVIDIA)
	}
}

// ownLabels are labels that follow from a field or from the offering.
var ownLabels = map[string]string{
	cluster.LabelInstanceType:    "name",
	cluster.LabelArch:            "arch",
	cluster.LabelOS:              "os",
	cluster.LabelZone:            "offerings",
	cluster.LabelZoneID:          "offerings",
	cluster.LabelCapacityType:    "offerings",
	cluster.LabelReservationID:   "offerings",
	cluster.LabelReservationType: "offerings",
	cluster.LabelHostname:        "the node",
	cluster.LabelNodePool:        "the NodePool",
}

func (c *checker) checkLabels(r *rawType) {
	said := map[string]string{cluster.LabelInstanceType: r.Name, cluster.LabelArch: r.arch(), cluster.LabelOS: r.os()}
	for _, key := range sortedKeys(r.Labels) {
		value := r.Labels[key]
		field := fmt.Sprintf("labels[%q]", shorten(key))
		if err := c.labelKey(key); err != nil {
			c.add(field, "is not a label key: %v", err)
			continue
		}
		if err := c.label(value); err != nil {
			c.add(field, "is not fit for a label value: %v", err)
		}
		owner, own := ownLabels[cluster.NormalLabel(key)]
		if own && said[cluster.NormalLabel(key)] != value {
			c.add(field, "follows from %s and is %q there: leave the label out", owner, said[cluster.NormalLabel(key)])
		}
	}
}

func (c *checker) offerings(list []rawOffering) {
	if len(list) == 0 {
		c.add("offerings", "is missing or empty: give at least one, with zone, capacityType and price")
	}
	if len(list) > maxOfferings {
		c.add("offerings", "has %d entries: give at most %d", len(list), maxOfferings)
		return
	}
	type sameAs struct{ zone, capacityType, reservation string }
	seen := make(map[sameAs]int, len(list))
	for i := range list {
		o := &list[i]
		field := func(name string) string { return fmt.Sprintf("offerings[%d].%s", i, name) }
		c.offering(o, field)
		key := sameAs{o.Zone, o.CapacityType, o.ReservationID}
		if first, twice := seen[key]; twice {
			c.add(fmt.Sprintf("offerings[%d]", i), "has the zone, capacity type and reservation of offerings[%d]: leave one of them out", first)
		} else {
			seen[key] = i
		}
	}
}

func (c *checker) offering(o *rawOffering, field func(string) string) {
	switch {
	case o.Zone == "":
		c.add(field("zone"), "is missing: write the availability zone, such as us-east-1a")
	case c.label(o.Zone) != nil:
		c.add(field("zone"), "is not fit for a label value: %v", c.label(o.Zone))
	}
	switch o.CapacityType {
	case cluster.OnDemand, cluster.Spot:
		if o.ReservationID != "" || o.ReservationCount != 0 {
			c.add(field("reservationId"), "and reservationCount are for capacityType reserved alone: leave them out, or write reserved")
		}
	case cluster.Reserved:
		if o.ReservationID == "" {
			c.add(field("reservationId"), "is missing: a reserved offering names its reservation, such as cr-0123456789abcdef0")
		} else if err := c.label(o.ReservationID); err != nil {
			c.add(field("reservationId"), "is not fit for a label value: %v", err)
		}
		c.between(field("reservationCount"), o.ReservationCount, 0, maxReservation)
	default:
		c.add(field("capacityType"), "is %q: write on-demand, spot or reserved", shorten(o.CapacityType))
	}
	switch {
	case o.Price == nil:
		c.add(field("price"), "is missing: write what an hour costs")
	case !(*o.Price >= 0 && *o.Price <= maxPrice) || math.IsNaN(*o.Price):
		c.add(field("price"), "is %v: write what an hour costs, from 0 to %d", *o.Price, maxPrice)
	}
}

// label checks a label value, each once a catalogue.
func (c *checker) label(value string) error {
	return c.once("v"+value, func() []string { return content.IsLabelValue(value) })
}

// labelKey checks a label key, each once a catalogue.
func (c *checker) labelKey(key string) error {
	return c.once("k"+key, func() []string { return content.IsLabelKey(key) })
}

func (c *checker) once(what string, look func() []string) error {
	err, done := c.parser.labels[what]
	if !done {
		if problems := look(); len(problems) > 0 {
			err = errors.New(problems[0])
		}
		c.parser.labels[what] = err
	}
	return err
}
