package source

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/catalog"
)

// The files of a Folder.
const (
	typesFile  = "instance_types.jsonl"
	pricesFile = "ondemand_prices.json"
	zonesFile  = "zones.csv"
	spotFile   = "spot_advisor_linux.csv"
)

// Folder is a source that reads four files:
//
//   - instance_types.jsonl: an object a line, with what DescribeInstanceTypes
//     says of a type;
//   - ondemand_prices.json: {"prices": {region: {type: amount}}};
//   - zones.csv: region, instance_type, zones and zone_ids, the latter two as
//     lists with | between, each sorted for itself;
//   - spot_advisor_linux.csv: region, instance_type, savings_percent,
//     interruption_bucket.
//
// The stamp cannot be read from the files and is given.
func Folder(files fs.FS, stamp string) Source { return folder{files, stamp} }

type folder struct {
	files fs.FS
	stamp string
}

func (f folder) Stamp() string { return f.stamp }

// typeRow is a line of instance_types.jsonl.
type typeRow struct {
	Name            string `json:"name"`
	Arch            string `json:"arch"`
	VCPUs           int64  `json:"vcpus"`
	MemoryMiB       int64  `json:"memory_mib"`
	CPUManufacturer string `json:"cpu_manufacturer"`
	ClockMHz        int64  `json:"clock_mhz"`
	Hypervisor      string `json:"hypervisor"`
	BareMetal       bool   `json:"bare_metal"`
	ENIs            int64  `json:"eni_max"`
	IPv4PerENI      int64  `json:"ipv4_per_eni"`
	DefaultCardENIs int64  `json:"eni_max_default_card"`
	NetworkCards    int64  `json:"network_cards"`
	BranchENIs      int64  `json:"branch_eni"`
	EFAs            int64  `json:"efa_max"`
	Encrypted       bool   `json:"encryption_in_transit"`
	NetworkMbps     int64  `json:"network_bandwidth_mbps"`
	EBSMbps         int64  `json:"ebs_bandwidth_mbps"`
	LocalNVMeGB     int64  `json:"local_nvme_gb"`
	LocalDiskGB     int64  `json:"local_disk_gb"`
	Flex            bool   `json:"flex"`
	Burstable       bool   `json:"burstable"`
	Spot            *bool  `json:"spot"`
	CapacityBlock   bool   `json:"capacity_block"`

	CPUFeatures []string `json:"cpu_features"`
	GPUs        []struct {
		Name         string `json:"name"`
		Manufacturer string `json:"manufacturer"`
		Count        int64  `json:"count"`
		MemoryMiB    int64  `json:"memory_mib"`
	} `json:"gpus"`
	Neuron *struct {
		Name    string `json:"name"`
		Devices int64  `json:"devices"`
		Cores   int64  `json:"cores_per_device"`
	} `json:"neuron"`
	// Karp is what nodes were seen to report. Its pod_eni is 0 where the
	// branch interfaces cannot be used because the type has no trunk.
	Karp *struct {
		PodENI int64 `json:"pod_eni"`
	} `json:"karp"`
}

func (f folder) Types() ([]catalog.Facts, error) {
	file, err := f.files.Open(typesFile)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var out []catalog.Facts
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var row typeRow
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", typesFile, n, err)
		}
		if row.Name == "" || row.VCPUs <= 0 || row.MemoryMiB <= 0 {
			return nil, fmt.Errorf("%s, line %d: name, vcpus and memory_mib are needed", typesFile, n)
		}
		out = append(out, row.facts())
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", typesFile, err)
	}
	return out, nil
}

func (r *typeRow) facts() catalog.Facts {
	f := catalog.Facts{
		Name: r.Name, Arch: r.Arch, CPUManufacturer: r.CPUManufacturer, Hypervisor: r.Hypervisor,
		VCPUs: r.VCPUs, MemoryMiB: r.MemoryMiB, ClockMHz: r.ClockMHz,
		ENIs: r.ENIs, DefaultCardENIs: r.DefaultCardENIs, NetworkCards: max(r.NetworkCards, 1),
		IPv4PerENI: r.IPv4PerENI, BranchENIs: r.BranchENIs, EFAs: r.EFAs,
		NetworkMbps: r.NetworkMbps, EBSMbps: r.EBSMbps,
		LocalNVMeGB: r.LocalNVMeGB, LocalDiskGB: r.LocalDiskGB,
		BareMetal: r.BareMetal, Flex: r.Flex, Burstable: r.Burstable,
		EncryptionInTransit: r.Encrypted, CapacityBlock: r.CapacityBlock,
		NestedVirt: slices.Contains(r.CPUFeatures, "nested-virtualization"),
		NoSpot:     r.Spot != nil && !*r.Spot,
	}
	if r.Karp != nil {
		f.BranchENIs = r.Karp.PodENI
	}
	for _, g := range r.GPUs {
		f.GPUs = append(f.GPUs, catalog.GPU(g))
	}
	if r.Neuron != nil {
		f.Neuron = &catalog.Neuron{Name: r.Neuron.Name, Devices: r.Neuron.Devices, Cores: r.Neuron.Cores}
	}
	f.LocalDisks = localDisks(&f)
	f.EBSVolumes = ebsVolumes(&f)
	return f
}

func (f folder) Prices() ([]Price, error) {
	data, err := fs.ReadFile(f.files, pricesFile)
	if err != nil {
		return nil, err
	}
	var doc struct {
		Prices map[string]map[string]float64 `json:"prices"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", pricesFile, err)
	}
	var out []Price
	for region, list := range doc.Prices {
		currency := "USD"
		if strings.HasPrefix(region, "cn-") {
			currency = "CNY"
		}
		for name, amount := range list {
			out = append(out, Price{Region: region, Type: name, Currency: currency, Amount: amount})
		}
	}
	return out, nil
}

func (f folder) Zones() ([]Offer, error) {
	rows, err := f.readCSV(zonesFile, "region", "instance_type", "zones", "zone_ids")
	if err != nil {
		return nil, err
	}
	pairs, err := pairZones(rows)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", zonesFile, err)
	}
	var out []Offer
	for _, row := range rows {
		for _, letter := range strings.Split(row[2], "|") {
			zone := catalog.Zone{Name: row[0] + letter, ID: pairs[row[0]+letter]}
			out = append(out, Offer{Region: row[0], Type: row[1], Zone: zone})
		}
	}
	return out, nil
}

func (f folder) Spot() ([]Spot, error) {
	rows, err := f.readCSV(spotFile, "region", "instance_type", "savings_percent", "interruption_bucket")
	if err != nil {
		return nil, err
	}
	var out []Spot
	for n, row := range rows {
		saving, err1 := strconv.ParseInt(row[2], 10, 64)
		bucket, err2 := strconv.ParseInt(row[3], 10, 64)
		if err1 != nil || err2 != nil || saving < -1000 || saving > 100 || bucket < 0 || bucket > 4 {
			return nil, fmt.Errorf("%s, row %d: a saving of at most 100 and a bucket of 0–4 are needed, not %q and %q", spotFile, n+2, row[2], row[3])
		}
		out = append(out, Spot{Region: row[0], Type: row[1], SpotRisk: catalog.SpotRisk{Saving: max(saving, 0), Interruption: bucket}})
	}
	return out, nil
}

// readCSV reads a file that has exactly the columns named, and returns the rows
// below the heading.
func (f folder) readCSV(name string, columns ...string) ([][]string, error) {
	file, err := f.files.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(rows) == 0 || !slices.Equal(rows[0], columns) {
		return nil, fmt.Errorf("%s: the first line must be %s", name, strings.Join(columns, ","))
	}
	return rows[1:], nil
}
