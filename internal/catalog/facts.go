package catalog

import (
	"slices"
	"strings"
)

// Facts is what EC2 says of one instance type, whatever the region.
type Facts struct {
	Name            string
	Arch            string // amd64, arm64; a type of another is kept and never offered
	CPUManufacturer string // intel, amd, aws
	Hypervisor      string // nitro, xen; "" for bare metal

	VCPUs     int64
	MemoryMiB int64
	ClockMHz  int64 // sustained; 0: not known

	ENIs            int64 // network interfaces, all cards together
	DefaultCardENIs int64 // network interfaces of the default card
	NetworkCards    int64
	IPv4PerENI      int64
	BranchENIs      int64 // interfaces that a trunk gives to pods; 0: no trunk
	EFAs            int64
	NetworkMbps     int64 // baseline; 0: not known
	EBSMbps         int64 // at most; 0: not known

	LocalNVMeGB int64 // instance store on NVMe, all volumes together, decimal
	LocalDiskGB int64 // instance store of another kind, likewise
	LocalDisks  int64 // how many volumes the instance store has
	// EBSVolumes is how many EBS volumes, the root included, attach to a type
	// that has a limit for them alone. 0: they share the slots of the Nitro
	// system with everything else.
	EBSVolumes int64

	BareMetal           bool
	Flex                bool // a *-flex type: full speed most of the time
	Burstable           bool
	EncryptionInTransit bool
	NestedVirt          bool
	NoSpot              bool // never sold on spot
	CapacityBlock       bool // sold in capacity blocks

	GPUs   []GPU
	Neuron *Neuron
}

// GPU is one kind of GPU of an instance type.
type GPU struct {
	Name, Manufacturer string
	Count              int64 // 0: a part of one, which no resource counts
	MemoryMiB          int64 // of one
}

// Neuron is the inference or training accelerator of an instance type.
type Neuron struct {
	Name    string
	Devices int64
	Cores   int64 // of one device
}

// Table is what the catalogue is made from: the facts of all types, and what
// each region charges and offers. Types and Regions are sorted by name.
type Table struct {
	// Stamp says in words of when and from where the facts are.
	Stamp   string
	Types   []Facts
	Regions []Region
}

// Region is what one region charges and offers. Its lists run parallel to
// Table.Types; a nil list is not known.
type Region struct {
	Name     string
	Currency string // of Prices: USD, CNY
	Zones    []Zone // at most maxZones
	// Prices are on demand, in millionths of the currency an hour; 0: none.
	Prices []int64
	// Offered has bit i set where the type is offered in Zones[i].
	Offered []int64
	Spot    []SpotRisk
}

// Zone is an availability zone. Which name stands for which id differs from one
// account to another in the older regions.
type Zone struct{ Name, ID string }

// SpotRisk is what the spot advisor says of a type in a region. It says nothing
// where both are 0.
type SpotRisk struct {
	Saving int64 // per cent of the on-demand price, on average; 0: none, or not known
	// Interruption is the bucket of the interruption frequency: 0 below 5 % a
	// month, 1 below 10 %, 2 below 15 %, 3 below 20 %, 4 above.
	Interruption int64
}

// maxZones is how many zones a region may have in a table.
const maxZones = 32

// Region finds a region by name.
func (t *Table) Region(name string) (*Region, bool) {
	i, ok := slices.BinarySearchFunc(t.Regions, name, func(r Region, name string) int {
		return strings.Compare(r.Name, name)
	})
	if !ok {
		return nil, false
	}
	return &t.Regions[i], true
}
