package source

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/dovetail-sh/dovetail/internal/catalog"
)

// files are a folder of two types and two regions.
func files() fstest.MapFS {
	return fstest.MapFS{
		typesFile: {Data: []byte(`{"name":"m6g.large","arch":"arm64","vcpus":2,"memory_mib":8192,"cpu_manufacturer":"aws","hypervisor":"nitro","eni_max":3,"eni_max_default_card":3,"ipv4_per_eni":10,"branch_eni":9,"spot":false,"karp":{"pod_eni":0}}
{"name":"g5.48xlarge","arch":"amd64","vcpus":192,"memory_mib":786432,"cpu_manufacturer":"amd","clock_mhz":3300,"hypervisor":"nitro","eni_max":15,"eni_max_default_card":15,"ipv4_per_eni":50,"branch_eni":107,"efa_max":1,"encryption_in_transit":true,"network_bandwidth_mbps":100000,"ebs_bandwidth_mbps":19000,"local_nvme_gb":7600,"cpu_features":["nested-virtualization"],"gpus":[{"name":"a10g","manufacturer":"nvidia","count":8,"memory_mib":22888}],"neuron":{"name":"x","devices":2,"cores_per_device":4}}
`)},
		pricesFile: {Data: []byte(`{"generated":{},"prices":{"us-east-1":{"m6g.large":0.077,"g5.48xlarge":16.288,"old.large":1},"cn-north-1":{"m6g.large":0.5}}}`)},
		zonesFile: {Data: []byte("region,instance_type,zones,zone_ids\n" +
			"us-east-1,m6g.large,a|b,use1-az2|use1-az4\n" +
			"us-east-1,g5.48xlarge,b,use1-az2\n")},
		spotFile: {Data: []byte("region,instance_type,savings_percent,interruption_bucket\n" +
			"us-east-1,m6g.large,64,0\nus-east-1,g5.48xlarge,-62,4\n")},
	}
}

func TestBuild(t *testing.T) {
	table, notes, err := Build(Folder(files(), "of a test"))
	if err != nil {
		t.Fatal(err)
	}
	want := &catalog.Table{
		Stamp: "of a test",
		Types: []catalog.Facts{
			{Name: "g5.48xlarge", Arch: "amd64", CPUManufacturer: "amd", Hypervisor: "nitro", VCPUs: 192, MemoryMiB: 786432, ClockMHz: 3300,
				ENIs: 15, DefaultCardENIs: 15, NetworkCards: 1, IPv4PerENI: 50, BranchENIs: 107, EFAs: 1, NetworkMbps: 100000, EBSMbps: 19000,
				LocalNVMeGB: 7600, LocalDisks: 2, EncryptionInTransit: true, NestedVirt: true,
				GPUs:   []catalog.GPU{{Name: "a10g", Manufacturer: "nvidia", Count: 8, MemoryMiB: 22888}},
				Neuron: &catalog.Neuron{Name: "x", Devices: 2, Cores: 4}},
			{Name: "m6g.large", Arch: "arm64", CPUManufacturer: "aws", Hypervisor: "nitro", VCPUs: 2, MemoryMiB: 8192,
				ENIs: 3, DefaultCardENIs: 3, NetworkCards: 1, IPv4PerENI: 10, NoSpot: true},
		},
		Regions: []catalog.Region{
			{Name: "cn-north-1", Currency: "CNY", Prices: []int64{0, 500_000}},
			{Name: "us-east-1", Currency: "USD", Prices: []int64{16_288_000, 77_000},
				Zones:   []catalog.Zone{{Name: "us-east-1a", ID: "use1-az4"}, {Name: "us-east-1b", ID: "use1-az2"}},
				Offered: []int64{2, 3},
				Spot:    []catalog.SpotRisk{{Saving: 0, Interruption: 4}, {Saving: 64, Interruption: 0}}},
		},
	}
	if diff := cmp.Diff(want, table); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{
		"prices of cn-north-1: 1 types have none",
		"prices of us-east-1: 1 rows of types without facts are left out",
	}, notes); diff != "" {
		t.Error(diff)
	}
}

func TestBuildRefuses(t *testing.T) {
	cases := []struct{ name, file, text, want string }{
		{"no types", typesFile, "", typesFile},
		{"a broken line", typesFile, "{\"name\":\"a\",\"vcpus\":1,\"memory_mib\":1}\n{", "line 2"},
		{"a nameless type", typesFile, `{"vcpus":1,"memory_mib":1}`, "line 1: name, vcpus and memory_mib"},
		{"a type twice", typesFile, strings.Repeat("{\"name\":\"a\",\"vcpus\":1,\"memory_mib\":1}\n", 2), "a comes twice"},
		{"prices that are no JSON", pricesFile, "{", pricesFile},
		{"a price of nothing", pricesFile, `{"prices":{"us-east-1":{"m6g.large":0}}}`, "costs 0"},
		{"other columns", zonesFile, "region,type\na,b\n", "the first line must be region,instance_type,zones,zone_ids"},
		{"more zones than ids", zonesFile, "region,instance_type,zones,zone_ids\nus-east-1,m6g.large,a|b,use1-az2\n", "2 zones and 1 zone ids"},
		{"a saving in words", spotFile, "region,instance_type,savings_percent,interruption_bucket\nus-east-1,m6g.large,half,0\n", "a saving of at most 100"},
		{"a bucket that is none", spotFile, "region,instance_type,savings_percent,interruption_bucket\nus-east-1,m6g.large,5,5\n", "a saving of at most 100"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			folder := files()
			folder[c.file] = &fstest.MapFile{Data: []byte(c.text)}
			if c.text == "" {
				delete(folder, c.file)
			}
			_, _, err := Build(Folder(folder, "s"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if c.text == "" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v hides the cause", err)
			}
		})
	}
}

// TestPairZones gives rows that settle which zone is which, and rows that do not.
func TestPairZones(t *testing.T) {
	rows := [][]string{
		{"r1", "x", "a|b|c", "az1|az2|az3"},
		{"r1", "y", "a|b", "az2|az3"},
		{"r1", "z", "b", "az2"},
		{"r2", "x", "a|b|c", "az1|az2|az3"},
		{"r2", "y", "c", "az1"},
	}
	got, err := pairZones(rows)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"r1a": "az3", "r1b": "az2", "r1c": "az1", "r2c": "az1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestStorage(t *testing.T) {
	cases := []struct {
		facts        catalog.Facts
		disks, limit int64
	}{
		{catalog.Facts{Name: "m5d.24xlarge", LocalNVMeGB: 3600}, 4, 0},
		{catalog.Facts{Name: "m6id.32xlarge", LocalNVMeGB: 7600}, 4, 0},
		{catalog.Facts{Name: "m5d.large", LocalNVMeGB: 75}, 1, 0},
		{catalog.Facts{Name: "i3en.24xlarge", LocalNVMeGB: 60000}, 8, 0},
		{catalog.Facts{Name: "m5.large"}, 0, 0},
		{catalog.Facts{Name: "m7i.large"}, 0, 32},
		{catalog.Facts{Name: "m7i.48xlarge"}, 0, 128},
		{catalog.Facts{Name: "m7i.metal-24xl"}, 0, 39},
		{catalog.Facts{Name: "m7g.large"}, 0, 0},
		{catalog.Facts{Name: "c9g.48xlarge"}, 0, 32},
		{catalog.Facts{Name: "m8x.large", Hypervisor: "xen"}, 0, 0},
	}
	for _, c := range cases {
		if got := localDisks(&c.facts); got != c.disks {
			t.Errorf("%s has %d disks, want %d", c.facts.Name, got, c.disks)
		}
		if got := ebsVolumes(&c.facts); got != c.limit {
			t.Errorf("%s takes %d volumes, want %d", c.facts.Name, got, c.limit)
		}
	}
}
