package catalog

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// smallTable has two types in a region that is known in full, and others of which
// less is known.
func smallTable() *Table {
	return &Table{
		Stamp: "of a test",
		Types: []Facts{
			{Name: "m5.large", Arch: "amd64", Hypervisor: "nitro", VCPUs: 2, MemoryMiB: 8192, ENIs: 3, DefaultCardENIs: 3, NetworkCards: 1, IPv4PerENI: 10},
			{Name: "m6g.large", Arch: "arm64", Hypervisor: "nitro", VCPUs: 2, MemoryMiB: 8192, ENIs: 3, DefaultCardENIs: 3, NetworkCards: 1, IPv4PerENI: 10, NoSpot: true},
			{Name: "mac2.metal", Arch: "arm64_mac", VCPUs: 8, MemoryMiB: 16384, BareMetal: true},
			{Name: "p5e.48xlarge", Arch: "amd64", Hypervisor: "nitro", VCPUs: 192, MemoryMiB: 2097152, ENIs: 64, DefaultCardENIs: 2, NetworkCards: 32, IPv4PerENI: 50, CapacityBlock: true},
		},
		Regions: []Region{
			{Name: "cn-north-1", Currency: "CNY", Prices: []int64{700_000, 0, 0, 0}},
			{Name: "eu-west-1", Currency: "USD", Zones: []Zone{{"eu-west-1a", "euw1-az3"}, {"eu-west-1b", "euw1-az1"}}, Offered: []int64{3, 1, 0, 0},
				Spot: []SpotRisk{{Saving: 40}, {}, {}, {}}},
			{Name: "us-east-1", Currency: "USD", Zones: []Zone{{"us-east-1a", "use1-az2"}, {"us-east-1b", "use1-az4"}},
				Prices: []int64{96_000, 77_000, 650_000, 0}, Offered: []int64{3, 2, 3, 0},
				Spot: []SpotRisk{{Saving: 50, Interruption: 1}, {Saving: 60}, {Saving: 10}, {Saving: 10}}},
		},
	}
}

func small(t *testing.T, region string) *Catalog {
	t.Helper()
	c, err := New(smallTable(), region)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// show writes the offerings of types a line each; estimates are marked with ~,
// what is not available with !.
func show(types []cluster.InstanceType) []string {
	var out []string
	for _, t := range types {
		for _, o := range t.Offerings {
			line := fmt.Sprintf("%s %s(%s) %s %.3g", t.Name, o.Zone, o.ZoneID, o.CapacityType, o.Price)
			if o.Estimate {
				line += "~"
			}
			if o.Unavailable {
				line += "!"
			}
			if o.ReservationID != "" {
				line += fmt.Sprintf(" %s %s %d", o.ReservationID, o.ReservationType, o.ReservationCount)
			}
			if o.ReservationInterruptible {
				line += " interruptible"
			}
			out = append(out, line)
		}
	}
	return out
}

func TestOfferings(t *testing.T) {
	reserved := []cluster.CapacityReservation{
		{ID: "cr-2", InstanceType: "m5.large", Zone: "us-east-1a", Type: "capacity-block", Available: 4, Expiring: true},
		{ID: "cr-1", InstanceType: "m5.large", Zone: "us-east-1a", Available: 3, Interruptible: true},
		{ID: "cr-3", InstanceType: "m5.large", Zone: "us-east-1b", Type: "default"},
		{ID: "cr-4", InstanceType: "p5e.48xlarge", Zone: "us-east-1b", Type: "capacity-block", Available: 1},
	}
	cases := []struct {
		name, region string
		class        *cluster.NodeClass
		want         []string
	}{
		{"all of it", "us-east-1", nil, []string{
			"m5.large us-east-1a(use1-az2) on-demand 0.096",
			"m5.large us-east-1a(use1-az2) spot 0.0494~",
			"m5.large us-east-1b(use1-az4) on-demand 0.096",
			"m5.large us-east-1b(use1-az4) spot 0.048~",
			"m6g.large us-east-1b(use1-az4) on-demand 0.077",
		}},
		{"the zones of the class", "us-east-1", &cluster.NodeClass{Zones: []string{"us-east-1a"}}, []string{
			"m5.large us-east-1a(use1-az2) on-demand 0.096",
			"m5.large us-east-1a(use1-az2) spot 0.0494~",
		}},
		{"an account that names zones otherwise", "us-east-1", &cluster.NodeClass{
			Zones: []string{"us-east-1f", "us-east-1a"}, ZoneIDs: map[string]string{"us-east-1f": "use1-az4", "us-east-1a": "use1-az9"}}, []string{
			"m5.large us-east-1a(use1-az9) on-demand 0.096",
			"m5.large us-east-1a(use1-az9) spot 0.0494~",
			"m5.large us-east-1f(use1-az4) on-demand 0.096",
			"m5.large us-east-1f(use1-az4) spot 0.048~",
			"m6g.large us-east-1f(use1-az4) on-demand 0.077",
		}},
		{"zones of elsewhere", "us-east-1", &cluster.NodeClass{Zones: []string{"us-west-2a"}}, nil},
		{"reservations", "us-east-1", &cluster.NodeClass{Zones: []string{"us-east-1b", "us-east-1a"}, Reserved: reserved}, []string{
			"m5.large us-east-1a(use1-az2) on-demand 0.096",
			"m5.large us-east-1a(use1-az2) reserved 9.6e-09 cr-1 default 3 interruptible",
			"m5.large us-east-1a(use1-az2) reserved 9.6e-09! cr-2 capacity-block 4",
			"m5.large us-east-1a(use1-az2) spot 0.0494~",
			"m5.large us-east-1b(use1-az4) on-demand 0.096",
			"m5.large us-east-1b(use1-az4) reserved 9.6e-09! cr-3 default 0",
			"m5.large us-east-1b(use1-az4) spot 0.048~",
			"m6g.large us-east-1b(use1-az4) on-demand 0.077",
			"p5e.48xlarge us-east-1b(use1-az4) reserved 1e-07 cr-4 capacity-block 1",
		}},
		{"reservations in other zones", "us-east-1", &cluster.NodeClass{Zones: []string{"us-east-1a"}, Reserved: reserved[3:]}, []string{
			"m5.large us-east-1a(use1-az2) on-demand 0.096",
			"m5.large us-east-1a(use1-az2) spot 0.0494~",
		}},
		{"Windows, at the price of Linux", "us-east-1", &cluster.NodeClass{AMIFamily: "Windows2022", Zones: []string{"us-east-1a"}}, []string{
			"m5.large us-east-1a(use1-az2) on-demand 0.096~",
			"m5.large us-east-1a(use1-az2) spot 0.0494~",
		}},
		{"dedicated, at the price of shared", "us-east-1", &cluster.NodeClass{Tenancy: "dedicated", Zones: []string{"us-east-1a"}}, []string{
			"m5.large us-east-1a(use1-az2) on-demand 0.096~",
			"m5.large us-east-1a(use1-az2) spot 0.0494~",
		}},
		{"a region without prices", "eu-west-1", nil, []string{
			"m5.large eu-west-1a(euw1-az3) on-demand 0.096~",
			"m5.large eu-west-1a(euw1-az3) spot 0.058~",
			"m5.large eu-west-1b(euw1-az1) on-demand 0.096~",
			"m5.large eu-west-1b(euw1-az1) spot 0.0581~",
			"m6g.large eu-west-1a(euw1-az3) on-demand 0.077~",
		}},
		{"a region with prices alone", "cn-north-1", &cluster.NodeClass{Zones: []string{"cn-north-1d"}}, []string{
			"m5.large cn-north-1d() on-demand 0.7",
			"m5.large cn-north-1d() spot 0.352~",
		}},
		{"a region that is not known", "xx-north-7", nil, []string{
			"m5.large xx-north-7a() on-demand 0.096~",
			"m5.large xx-north-7a() spot 0.0501~",
			"m5.large xx-north-7b() on-demand 0.096~",
			"m5.large xx-north-7b() spot 0.0465~",
			"m5.large xx-north-7c() on-demand 0.096~",
			"m5.large xx-north-7c() spot 0.0461~",
			"m6g.large xx-north-7a() on-demand 0.077~",
			"m6g.large xx-north-7b() on-demand 0.077~",
			"m6g.large xx-north-7c() on-demand 0.077~",
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, show(small(t, c.region).InstanceTypes(c.class))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	for region, want := range map[string][]string{
		"us-east-1":  nil,
		"eu-west-1":  {"no prices of eu-west-1"},
		"cn-north-1": {"no zones of cn-north-1", "in CNY"},
		"xx-north-7": {"does not know the region xx-north-7", "no prices", "no zones"},
	} {
		got := small(t, region).Warnings()
		if len(got) != len(want) {
			t.Errorf("%s: %q, want %d warnings", region, got, len(want))
			continue
		}
		for i := range want {
			if !strings.Contains(got[i], want[i]) {
				t.Errorf("%s: %q does not contain %q", region, got[i], want[i])
			}
		}
	}
	if c := small(t, "cn-north-1"); c.Currency() != "CNY" || c.Region() != "cn-north-1" || c.Stamp() != "of a test" {
		t.Errorf("%s, %s, %s", c.Currency(), c.Region(), c.Stamp())
	}
}

func TestRegionNames(t *testing.T) {
	for _, region := range []string{"", "us-east", "us-east-1a", "US-EAST-1", "us east 1", "useast1", "us-east-1\n"} {
		if _, err := Embedded(region); err == nil || !strings.Contains(err.Error(), "us-east-1 is written") {
			t.Errorf("Embedded(%q) gives %v", region, err)
		}
	}
	for _, region := range []string{"us-east-1", "us-gov-west-1", "ap-southeast-7", "cn-north-1", "mx-central-1", "us-iso-east-1"} {
		c := embedded(t, region)
		n := 0
		for _, it := range c.InstanceTypes(nil) {
			n += len(it.Offerings)
		}
		if n < 900 {
			t.Errorf("%s has %d offerings", region, n)
		}
	}
}

// TestEstimates checks what spot prices are derived from: in each zone within
// 5 % of the average, and not the same in all.
func TestEstimates(t *testing.T) {
	const onDemand, saving = 1.0, 60
	lowest, highest, sum, n := math.Inf(1), 0.0, 0.0, 0
	for _, it := range embedded(t, "us-east-1").InstanceTypes(nil) {
		seen := make(map[float64]bool)
		for _, zone := range []string{"use1-az1", "use1-az2", "use1-az4"} {
			p := spotEstimate(onDemand, saving, it.Name, zone)
			seen[p] = true
			lowest, highest, sum, n = min(lowest, p), max(highest, p), sum+p, n+1
		}
		if len(seen) < 2 {
			t.Errorf("%s costs the same everywhere", it.Name)
		}
	}
	if lowest < 0.38 || highest > 0.42 || highest-lowest < 0.039 {
		t.Errorf("estimates lie between %v and %v, want 0.38 to 0.42", lowest, highest)
	}
	if mean := sum / float64(n); math.Abs(mean-0.4) > 0.001 {
		t.Errorf("the mean is %v, want 0.4", mean)
	}
	if p := spotEstimate(0.000001, 100, "a", "b"); p <= 0 {
		t.Errorf("an estimate of %v", p)
	}
}

func TestSpotRisk(t *testing.T) {
	c := small(t, "us-east-1")
	if risk, ok := c.SpotRisk("m5.large"); !ok || risk != (SpotRisk{Saving: 50, Interruption: 1}) {
		t.Errorf("%+v, %v", risk, ok)
	}
	for _, name := range []string{"m9.large", "mac2.metal", ""} {
		if risk, ok := c.SpotRisk(name); ok {
			t.Errorf("%q: %+v", name, risk)
		}
	}
}

// TestHome pins down the region that others borrow from: what it offers, and
// that every price is one that can be planned with.
func TestHome(t *testing.T) {
	types := embedded(t, "us-east-1").InstanceTypes(nil)
	if len(types) < 1300 {
		t.Fatalf("%d types", len(types))
	}
	if !slices.IsSortedFunc(types, func(a, b cluster.InstanceType) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("not sorted by name")
	}
	offerings, spot := 0, 0
	for _, it := range types {
		if !slices.IsSortedFunc(it.Offerings, compareOfferings) {
			t.Errorf("%s: offerings are not sorted", it.Name)
		}
		for _, o := range it.Offerings {
			offerings++
			if o.CapacityType == cluster.Spot {
				spot++
			}
			if !(o.Price > 0) || o.Estimate != (o.CapacityType == cluster.Spot) || o.Unavailable || o.ZoneID == "" {
				t.Errorf("%s: %+v", it.Name, o)
			}
		}
	}
	if offerings < 9000 || spot < 3000 {
		t.Errorf("%d offerings, %d of them spot", offerings, spot)
	}
	m5 := byName(types)["m5.large"]
	if got := m5.Offerings[0]; got.Zone != "us-east-1a" || got.ZoneID != "use1-az2" || got.Price != 0.096 {
		t.Errorf("m5.large: %+v", got)
	}
}
