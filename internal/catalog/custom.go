package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	jsonstrict "sigs.k8s.io/json"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// Bounds of a user's own catalogue.
const (
	MaxBytes = 64 << 20
	MaxTypes = 20_000
)

// What a user's own types are taken to be where they do not say.
const (
	standardPods         = 110 // the kubelet's default
	standardEphemeralGiB = 100
	standardVolumes      = 25 // what an instance with few interfaces attaches
)

// Parse reads a catalogue of the user's own: JSON, an array of instance types or
// an object that has them as instanceTypes. Numbers are taken as they stand:
// allocatable is capacity less the overhead given. Every error names the entry
// and the field, and says what to write; all are found in one go (errors.Join).
func Parse(data []byte) (*Catalog, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("the catalogue has %d bytes, more than %d: leave out the types that no NodePool may use", len(data), MaxBytes)
	}
	list, err := splitList(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("the catalogue has no instance types: give at least one, with name, cpuMilli, memoryMiB and offerings")
	}
	if len(list) > MaxTypes {
		return nil, fmt.Errorf("the catalogue has %d instance types, more than %d: leave out those that no NodePool may use", len(list), MaxTypes)
	}
	p := parser{seen: make(map[string]int, len(list)), labels: make(map[string]error)}
	c := &Catalog{currency: "USD", entries: make([]entry, 0, len(list))}
	for i, raw := range list {
		if t, ok := p.entry(i, raw); ok {
			c.entries = append(c.entries, entry{name: t.Name, literal: t})
		}
		if len(p.errs) >= maxErrors {
			p.errs = append(p.errs, fmt.Errorf("further entries were not looked at after %d errors", len(p.errs)))
			break
		}
	}
	if len(p.errs) > 0 {
		return nil, errors.Join(p.errs...)
	}
	slices.SortFunc(c.entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	c.warnings = p.warnings
	return c, nil
}

// maxErrors is how many errors are worth reading at once.
const maxErrors = 50

// document is a catalogue as an object. What else the yardstick's input has
// beside the types is let through, so that one file serves both.
type document struct {
	InstanceTypes  []json.RawMessage `json:"instanceTypes"`
	Pods           json.RawMessage   `json:"pods,omitempty"`
	NodePools      json.RawMessage   `json:"nodePools,omitempty"`
	DaemonSets     json.RawMessage   `json:"daemonSets,omitempty"`
	Nodes          json.RawMessage   `json:"nodes,omitempty"`
	PDBs           json.RawMessage   `json:"pdbs,omitempty"`
	Namespaces     json.RawMessage   `json:"namespaces,omitempty"`
	PVCs           json.RawMessage   `json:"pvcs,omitempty"`
	PVs            json.RawMessage   `json:"pvs,omitempty"`
	StorageClasses json.RawMessage   `json:"storageClasses,omitempty"`
}

// splitList finds the entries.
func splitList(data []byte) ([]json.RawMessage, error) {
	data = bytes.TrimSpace(data)
	var list []json.RawMessage
	switch {
	case len(data) == 0:
		return nil, errors.New("the catalogue is empty: give a JSON array of instance types, or an object that has them as instanceTypes")
	case data[0] == '[':
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, fmt.Errorf("the catalogue is not valid JSON: %s", syntax(data, err))
		}
		return list, nil
	case data[0] == '{':
		var doc document
		unknown, err := jsonstrict.UnmarshalStrict(data, &doc)
		if err != nil {
			return nil, fmt.Errorf("the catalogue is not valid JSON: %s", syntax(data, err))
		}
		if len(unknown) > 0 {
			return nil, fmt.Errorf("the catalogue: %v: beside instanceTypes nothing is read, so leave it out", unknown[0])
		}
		if doc.InstanceTypes == nil {
			return nil, errors.New("the catalogue has no field instanceTypes: give the list of types under that name, or the list alone")
		}
		return doc.InstanceTypes, nil
	}
	return nil, errors.New("the catalogue is neither a JSON array nor an object: give an array of instance types, or an object that has them as instanceTypes")
}

// syntax adds the line to a JSON error.
func syntax(data []byte, err error) string {
	var at int64 = -1
	var se *json.SyntaxError
	var te *json.UnmarshalTypeError
	switch {
	case errors.As(err, &se):
		at = se.Offset
	case errors.As(err, &te):
		at = te.Offset
	default:
		if ok, offset := jsonstrict.SyntaxErrorOffset(err); ok {
			at = offset
		}
	}
	if at < 0 || at > int64(len(data)) {
		return err.Error()
	}
	return fmt.Sprintf("line %d: %v", bytes.Count(data[:at], []byte("\n"))+1, err)
}

// rawType is an entry as it is written.
type rawType struct {
	Name              string            `json:"name"`
	Arch              string            `json:"arch"`
	OS                oneOrMore         `json:"os"`
	CPUMilli          int64             `json:"cpuMilli"`
	MemoryMiB         int64             `json:"memoryMiB"`
	Pods              *int64            `json:"pods"`
	GPU               int64             `json:"gpu"`
	GPUResource       string            `json:"gpuResource"`
	EphemeralGiB      int64             `json:"ephemeralGiB"`
	OverheadCPUMilli  int64             `json:"overheadCpuMilli"`
	OverheadMemoryMiB int64             `json:"overheadMemoryMiB"`
	Labels            map[string]string `json:"labels"`
	Offerings         []rawOffering     `json:"offerings"`
}

type rawOffering struct {
	Zone             string   `json:"zone"`
	CapacityType     string   `json:"capacityType"`
	Price            *float64 `json:"price"`
	Unavailable      bool     `json:"unavailable"`
	ReservationID    string   `json:"reservationId"`
	ReservationCount int64    `json:"reservationCount"`
}

const (
	typeFields     = "name, arch, os, cpuMilli, memoryMiB, pods, gpu, gpuResource, ephemeralGiB, overheadCpuMilli, overheadMemoryMiB, labels, offerings"
	offeringFields = "zone, capacityType, price, unavailable, reservationId, reservationCount"
)

// oneOrMore is a string, or a list of them.
type oneOrMore []string

// UnmarshalJSON reads either.
func (o *oneOrMore) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*o = nil
		if one != "" {
			*o = oneOrMore{one}
		}
		return nil
	}
	var more []string
	if err := json.Unmarshal(data, &more); err != nil {
		return errors.New("os must be a string such as linux, or a list of strings")
	}
	*o = more
	return nil
}

// parser gathers what is wrong with the entries.
type parser struct {
	seen     map[string]int
	labels   map[string]error // label keys and values that were looked at
	errs     []error
	warnings []string
}

// entry reads one entry; ok is false when something is wrong with it.
func (p *parser) entry(i int, raw json.RawMessage) (*cluster.InstanceType, bool) {
	var r rawType
	unknown, err := jsonstrict.UnmarshalStrict(raw, &r)
	c := checker{where: fmt.Sprintf("instanceTypes[%d]", i), parser: p}
	if r.Name != "" {
		c.where += " (" + shorten(r.Name) + ")"
	}
	if err != nil {
		c.badJSON(err)
		return nil, false
	}
	for _, u := range unknown {
		c.unknownField(u)
	}
	c.check(&r)
	if first, twice := p.seen[r.Name]; twice && r.Name != "" {
		c.add("name", "is that of instanceTypes[%d] too: leave one of them out", first)
	} else {
		p.seen[r.Name] = i
	}
	if c.bad {
		return nil, false
	}
	return p.build(&r), true
}

// build makes the type of an entry that has been checked.
func (p *parser) build(r *rawType) *cluster.InstanceType {
	t := &cluster.InstanceType{
		Name: r.Name, Arch: r.arch(), OS: r.os(), Exotic: r.GPU > 0 || strings.Contains(r.Name, "metal"),
		VolumeLimit: standardVolumes, Labels: customLabels(r),
	}
	if len(r.OS) > 1 {
		p.warnings = append(p.warnings, fmt.Sprintf("instance type %s is listed for several operating systems: it is planned for %s alone", r.Name, t.OS))
	}
	ephemeral := r.EphemeralGiB
	if ephemeral == 0 {
		ephemeral = standardEphemeralGiB
	}
	pods := int64(standardPods)
	if r.Pods != nil {
		pods = *r.Pods
	}
	amounts := map[string]int64{
		cluster.CPU:              r.CPUMilli,
		cluster.Memory:           r.MemoryMiB * mib,
		cluster.Pods:             pods,
		cluster.EphemeralStorage: ephemeral * gib,
	}
	if r.GPU > 0 {
		amounts[r.gpuResource()] = r.GPU
	}
	t.Capacity = cluster.ResourcesOf(amounts)
	amounts[cluster.CPU] -= r.OverheadCPUMilli
	amounts[cluster.Memory] -= r.OverheadMemoryMiB * mib
	t.Allocatable = cluster.ResourcesOf(amounts)
	for _, o := range r.Offerings {
		made := cluster.Offering{Zone: o.Zone, CapacityType: o.CapacityType, Price: *o.Price,
			ReservationID: o.ReservationID, ReservationCount: o.ReservationCount,
			Unavailable: o.Unavailable || o.CapacityType == cluster.Reserved && o.ReservationCount == 0}
		if o.CapacityType == cluster.Reserved {
			made.ReservationType = "default"
		}
		t.Offerings = append(t.Offerings, made)
	}
	slices.SortStableFunc(t.Offerings, compareOfferings)
	return t
}

func (r *rawType) arch() string {
	if r.Arch == "" {
		return "amd64"
	}
	return r.Arch
}

func (r *rawType) os() string {
	if len(r.OS) == 0 || slices.Contains(r.OS, "linux") {
		return "linux"
	}
	return r.OS[0]
}

func (r *rawType) gpuResource() string {
	if r.GPUResource == "" {
		return resourceNVIDIA
	}
	return r.GPUResource
}

// customLabels are the labels given, and those that follow from the rest of the
// entry where they are not given.
func customLabels(r *rawType) map[string]string {
	m := make(map[string]string, len(r.Labels)+10)
	for k, v := range r.Labels {
		m[cluster.NormalLabel(k)] = v
	}
	add := func(key, value string) {
		if _, given := m[key]; !given && value != "" {
			m[key] = value
		}
	}
	add(cluster.LabelInstanceType, r.Name)
	add(cluster.LabelArch, r.arch())
	add(cluster.LabelOS, r.os())
	add(cluster.LabelRegion, regionOf(r.Offerings))
	nameLabels(r.Name, add)
	if r.CPUMilli%1000 == 0 {
		add(labelCPU, strconv.FormatInt(r.CPUMilli/1000, 10))
	}
	add(labelMemory, strconv.FormatInt(r.MemoryMiB, 10))
	return m
}

// regionOf is the region that all zones of a type are in by their names, "" where
// they are named otherwise.
func regionOf(offerings []rawOffering) string {
	region := ""
	for _, o := range offerings {
		n := len(o.Zone) - 1
		switch {
		case n < 0 || o.Zone[n] < 'a' || o.Zone[n] > 'z':
			return ""
		case region == o.Zone[:n]:
		case region != "" || !regionForm.MatchString(o.Zone[:n]):
			return ""
		}
		region = o.Zone[:n]
	}
	return region
}

// capPods applies the class's maxPods to a type whose numbers stand as they are.
func (s *settings) capPods(t *cluster.InstanceType) {
	if s.maxPods == nil {
		return
	}
	limit := max(*s.maxPods, 0)
	if t.Capacity.Get(cluster.Pods) > limit {
		t.Capacity = t.Capacity.With(cluster.Pods, limit)
	}
	if t.Allocatable.Get(cluster.Pods) > limit {
		t.Allocatable = t.Allocatable.With(cluster.Pods, limit)
	}
}

// shorten keeps a name of the user's that stands in a message readable.
func shorten(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "?")
	}
	if r := []rune(s); len(r) > 63 {
		return string(r[:60]) + "..."
	}
	return s
}
