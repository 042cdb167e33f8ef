package cluster

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Names of the resources that have a unit of their own. Every other resource
// (GPUs, EFA interfaces, pod ENIs, …) is a plain count.
const (
	CPU              = "cpu"               // thousandths of a core
	Memory           = "memory"            // bytes
	EphemeralStorage = "ephemeral-storage" // bytes
	Pods             = "pods"              // count
	Nodes            = "nodes"             // count; in NodePool limits only
)

// Resource is an amount of one named resource, in the unit of its name: CPU in
// thousandths of a core, memory, storage and hugepages in bytes, everything
// else in whole units.
type Resource struct {
	Name   string
	Amount int64
}

// Resources is a list of amounts ordered by name, each name at most once. The
// zero value is empty and ready to use. Methods return new lists and never
// change the receiver.
type Resources []Resource

// Get returns the amount of a resource, 0 where it is not listed.
func (r Resources) Get(name string) int64 {
	for i := range r {
		if r[i].Name == name {
			return r[i].Amount
		}
	}
	return 0
}

// Has tells whether the resource is listed, be it with an amount of 0.
func (r Resources) Has(name string) bool {
	for i := range r {
		if r[i].Name == name {
			return true
		}
	}
	return false
}

// With returns r with the amount of one resource replaced.
func (r Resources) With(name string, amount int64) Resources {
	out := make(Resources, 0, len(r)+1)
	placed := false
	for _, x := range r {
		if !placed && x.Name >= name {
			out = append(out, Resource{name, amount})
			placed = true
			if x.Name == name {
				continue
			}
		}
		out = append(out, x)
	}
	if !placed {
		out = append(out, Resource{name, amount})
	}
	return out
}

// Without returns r with one resource taken out.
func (r Resources) Without(name string) Resources {
	out := make(Resources, 0, len(r))
	for _, x := range r {
		if x.Name != name {
			out = append(out, x)
		}
	}
	return out
}

// Add returns the sum, name by name.
func (r Resources) Add(o Resources) Resources {
	return merge(r, o, func(a, b int64) int64 { return a + b })
}

// Sub returns the difference, name by name; amounts may become negative.
func (r Resources) Sub(o Resources) Resources {
	return merge(r, o, func(a, b int64) int64 { return a - b })
}

// Max returns the larger amount, name by name.
func (r Resources) Max(o Resources) Resources {
	return merge(r, o, func(a, b int64) int64 { return max(a, b) })
}

// Scale returns every amount times n.
func (r Resources) Scale(n int64) Resources {
	out := slices.Clone(r)
	for i := range out {
		out[i].Amount *= n
	}
	return out
}

// Fits tells whether every amount of r is at most what o has.
func (r Resources) Fits(o Resources) bool {
	for _, x := range r {
		if x.Amount > 0 && x.Amount > o.Get(x.Name) {
			return false
		}
	}
	return true
}

// ResourcesOf orders a map of amounts.
func ResourcesOf(m map[string]int64) Resources {
	out := make(Resources, 0, len(m))
	for k, v := range m {
		out = append(out, Resource{k, v})
	}
	slices.SortFunc(out, func(a, b Resource) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Map is the inverse of ResourcesOf.
func (r Resources) Map() map[string]int64 {
	out := make(map[string]int64, len(r))
	for _, x := range r {
		out[x.Name] = x.Amount
	}
	return out
}

// IsBytes tells whether a resource is counted in bytes.
func IsBytes(name string) bool {
	return name == Memory || name == EphemeralStorage || name == "storage" || strings.HasPrefix(name, "hugepages-") || strings.HasPrefix(name, "requests.memory")
}

// FormatAmount writes an amount as a Kubernetes quantity: 1500 of CPU is
// "1500m", 2000 is "2", bytes take the largest binary unit that is exact.
func FormatAmount(name string, amount int64) string {
	switch {
	case name == CPU:
		if amount%1000 == 0 {
			return strconv.FormatInt(amount/1000, 10)
		}
		return strconv.FormatInt(amount, 10) + "m"
	case IsBytes(name):
		if amount == 0 {
			return "0"
		}
		units := []string{"", "Ki", "Mi", "Gi", "Ti", "Pi"}
		u := 0
		for amount%1024 == 0 && u < len(units)-1 {
			amount /= 1024
			u++
		}
		return strconv.FormatInt(amount, 10) + units[u]
	default:
		return strconv.FormatInt(amount, 10)
	}
}

func merge(a, b Resources, f func(x, y int64) int64) Resources {
	out := make(Resources, 0, len(a)+len(b))
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case j == len(b) || i < len(a) && a[i].Name < b[j].Name:
			out = append(out, Resource{a[i].Name, f(a[i].Amount, 0)})
			i++
		case i == len(a) || b[j].Name < a[i].Name:
			out = append(out, Resource{b[j].Name, f(0, b[j].Amount)})
			j++
		default:
			out = append(out, Resource{a[i].Name, f(a[i].Amount, b[j].Amount)})
			i++
			j++
		}
	}
	return out
}

// DeviceResource is the extended resource that counts the devices of a resource
// claim's device class on an instance type, "" where none is known.
func DeviceResource(class string) string {
	switch class {
	case "gpu.nvidia.com", "nvidia.com":
		return "nvidia.com/gpu"
	case "gpu.amd.com", "amd.com":
		return "amd.com/gpu"
	case "neuron.aws.com", "neurondevice.aws.com":
		return "aws.amazon.com/neuron"
	case "efa.networking.k8s.aws", "efa.aws.com":
		return "vpc.amazonaws.com/efa"
	}
	return ""
}
