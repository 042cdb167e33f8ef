package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// overlaid are the types that the overlays of the tests apply to.
func overlaid() []cluster.InstanceType {
	offerings := func(price float64) []cluster.Offering {
		return []cluster.Offering{
			{Zone: "a", CapacityType: cluster.OnDemand, Price: price},
			{Zone: "a", CapacityType: cluster.Reserved, Price: price / reservedShare, ReservationID: "cr-1", ReservationType: "default", ReservationCount: 1},
			{Zone: "a", CapacityType: cluster.Spot, Price: price / 2, Estimate: true},
			{Zone: "b", CapacityType: cluster.OnDemand, Price: price},
		}
	}
	make := func(name, family, cpu string, price float64) cluster.InstanceType {
		r := cluster.Resources{{Name: cluster.CPU, Amount: 2000}, {Name: cluster.Pods, Amount: 10}}
		return cluster.InstanceType{Name: name, Capacity: r, Allocatable: r, Offerings: offerings(price),
			Labels: map[string]string{cluster.LabelInstanceType: name, labelFamily: family, labelCPU: cpu}}
	}
	return []cluster.InstanceType{make("m5.large", "m5", "2", 1), make("m5.xlarge", "m5", "4", 2)}
}

func req(key string, op cluster.Operator, values ...string) cluster.Requirement {
	return cluster.Requirement{Key: key, Operator: op, Values: values}
}

func TestOverlayPrices(t *testing.T) {
	m5large := req(cluster.LabelInstanceType, cluster.In, "m5.large")
	cases := []struct {
		name     string
		overlays []cluster.NodeOverlay
		pool     map[string]string
		// prices of m5.large: on demand in a, reserved and spot in a, on demand in b
		want [4]float64
	}{
		{"none", nil, nil, [4]float64{1, 1e-7, 0.5, 1}},
		{"a price", []cluster.NodeOverlay{{Requirements: []cluster.Requirement{m5large}, Price: ptr(0.3)}}, nil, [4]float64{0.3, 1e-7, 0.3, 0.3}},
		{"dearer", []cluster.NodeOverlay{{Requirements: []cluster.Requirement{m5large}, Adjustment: ptr(0.25)}}, nil, [4]float64{1.25, 1e-7, 0.75, 1.25}},
		{"cheaper", []cluster.NodeOverlay{{Requirements: []cluster.Requirement{m5large}, Adjustment: ptr(-0.75)}}, nil, [4]float64{0.25, 1e-7, 0, 0.25}},
		{"per cent", []cluster.NodeOverlay{{Requirements: []cluster.Requirement{m5large}, Adjustment: ptr(-50.0), Percent: true}}, nil, [4]float64{0.5, 1e-7, 0.25, 0.5}},
		{"-100%", []cluster.NodeOverlay{{Requirements: []cluster.Requirement{m5large}, Adjustment: ptr(-100.0), Percent: true}}, nil, [4]float64{0, 1e-7, 0, 0}},
		{"another type", []cluster.NodeOverlay{{Requirements: []cluster.Requirement{req(cluster.LabelInstanceType, cluster.In, "m5.xlarge")}, Price: ptr(9.0)}}, nil, [4]float64{1, 1e-7, 0.5, 1}},
		{"by zone", []cluster.NodeOverlay{{Requirements: []cluster.Requirement{req(cluster.LabelZone, cluster.In, "b")}, Price: ptr(0.3)}}, nil, [4]float64{1, 1e-7, 0.5, 0.3}},
		{"by an old name of the zone", []cluster.NodeOverlay{{Requirements: []cluster.Requirement{req("failure-domain.beta.kubernetes.io/zone", cluster.In, "b")}, Price: ptr(0.3)}}, nil, [4]float64{1, 1e-7, 0.5, 0.3}},
		{"by capacity type", []cluster.NodeOverlay{{Requirements: []cluster.Requirement{req(cluster.LabelCapacityType, cluster.In, cluster.Spot)}, Price: ptr(0.3)}}, nil, [4]float64{1, 1e-7, 0.3, 1}},
		{"reserved, when asked for", []cluster.NodeOverlay{{Requirements: []cluster.Requirement{req(cluster.LabelCapacityType, cluster.Exists)}, Price: ptr(0.3)}}, nil, [4]float64{0.3, 0.3, 0.3, 0.3}},
		{"by reservation", []cluster.NodeOverlay{{Requirements: []cluster.Requirement{req(cluster.LabelReservationID, cluster.DoesNotExist)}, Price: ptr(0.3)}}, nil, [4]float64{0.3, 1e-7, 0.3, 0.3}},
		{"a NodePool's label", []cluster.NodeOverlay{{Requirements: []cluster.Requirement{req(cluster.LabelNodePool, cluster.In, "p")}, Price: ptr(0.3)}},
			map[string]string{cluster.LabelNodePool: "p"}, [4]float64{0.3, 1e-7, 0.3, 0.3}},
		{"of another NodePool", []cluster.NodeOverlay{{Requirements: []cluster.Requirement{req(cluster.LabelNodePool, cluster.In, "p")}, Price: ptr(0.3)}},
			map[string]string{cluster.LabelNodePool: "q"}, [4]float64{1, 1e-7, 0.5, 1}},
		{"the higher weight", []cluster.NodeOverlay{{Name: "a", Weight: 1, Price: ptr(0.1)}, {Name: "b", Weight: 2, Price: ptr(0.2)}}, nil, [4]float64{0.2, 1e-7, 0.2, 0.2}},
		{"no weight is the lowest", []cluster.NodeOverlay{{Name: "a", Price: ptr(0.1)}, {Name: "b", Weight: 1, Price: ptr(0.2)}}, nil, [4]float64{0.2, 1e-7, 0.2, 0.2}},
		{"the name at equal weight", []cluster.NodeOverlay{{Name: "b", Weight: 2, Price: ptr(0.2)}, {Name: "a", Weight: 2, Price: ptr(0.1)}}, nil, [4]float64{0.1, 1e-7, 0.1, 0.1}},
		{"each where it matches", []cluster.NodeOverlay{{Name: "a", Weight: 9, Price: ptr(0.9), Requirements: []cluster.Requirement{req(cluster.LabelZone, cluster.NotIn, "a")}},
			{Name: "b", Weight: 2, Adjustment: ptr(1.0)}}, nil, [4]float64{2, 1e-7, 1.5, 0.9}},
		{"one without a price leaves it to the next", []cluster.NodeOverlay{{Name: "a", Weight: 9, Capacity: cluster.Resources{{Name: "x/y", Amount: 1}}},
			{Name: "b", Weight: 2, Price: ptr(0.2)}}, nil, [4]float64{0.2, 1e-7, 0.2, 0.2}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			types := overlaid()
			got := WithOverlays(types, c.overlays, c.pool)
			for i, want := range c.want {
				if p := got[0].Offerings[i].Price; p != want {
					t.Errorf("offering %d costs %v, want %v", i, p, want)
				}
			}
			if diff := cmp.Diff(overlaid(), types); diff != "" {
				t.Errorf("the types given were changed: %s", diff)
			}
		})
	}
}

func TestOverlayEstimates(t *testing.T) {
	spot := func(o cluster.NodeOverlay) bool {
		return WithOverlays(overlaid(), []cluster.NodeOverlay{o}, nil)[0].Offerings[2].Estimate
	}
	if spot(cluster.NodeOverlay{Price: ptr(1.0)}) {
		t.Error("a price that the user gives is called an estimate")
	}
	if !spot(cluster.NodeOverlay{Adjustment: ptr(1.0)}) {
		t.Error("an estimate that is adjusted is called a price")
	}
}

func TestOverlayCapacity(t *testing.T) {
	smarter := cluster.Resources{{Name: "smarter-devices/fuse", Amount: 5}}
	overlays := []cluster.NodeOverlay{
		{Name: "low", Weight: 1, Capacity: cluster.Resources{{Name: "example.com/a", Amount: 1}, {Name: "example.com/b", Amount: 1}}},
		{Name: "high", Weight: 5, Capacity: cluster.Resources{{Name: "cpu", Amount: 9}, {Name: "example.com/b", Amount: 7}, {Name: "pods", Amount: 9}}},
		{Name: "by cpu", Weight: 3, Requirements: []cluster.Requirement{req(labelCPU, cluster.Gt, "2")}, Capacity: smarter},
		{Name: "nowhere", Weight: 3, Requirements: []cluster.Requirement{req(cluster.LabelZone, cluster.In, "z")}, Capacity: cluster.Resources{{Name: "example.com/c", Amount: 1}}},
	}
	got := WithOverlays(overlaid(), overlays, nil)
	want := cluster.Resources{{Name: "cpu", Amount: 2000}, {Name: "example.com/a", Amount: 1}, {Name: "example.com/b", Amount: 7}, {Name: "pods", Amount: 10}}
	for i, w := range []cluster.Resources{want, want.With("smarter-devices/fuse", 5)} {
		if diff := cmp.Diff(w, got[i].Capacity); diff != "" {
			t.Errorf("capacity of %s: %s", got[i].Name, diff)
		}
		if diff := cmp.Diff(w, got[i].Allocatable); diff != "" {
			t.Errorf("allocatable of %s: %s", got[i].Name, diff)
		}
	}
}

func TestMatches(t *testing.T) {
	labels := func(key string) (string, bool) {
		m := map[string]string{"n": "4", "s": "x"}
		v, ok := m[key]
		return v, ok
	}
	cases := []struct {
		r    cluster.Requirement
		want bool
	}{
		{req("s", cluster.In, "x", "y"), true}, {req("s", cluster.In, "y"), false}, {req("none", cluster.In, "x"), false},
		{req("s", cluster.NotIn, "y"), true}, {req("s", cluster.NotIn, "x"), false}, {req("none", cluster.NotIn, "x"), true},
		{req("s", cluster.Exists), true}, {req("none", cluster.Exists), false},
		{req("s", cluster.DoesNotExist), false}, {req("none", cluster.DoesNotExist), true},
		{req("n", cluster.Gt, "3"), true}, {req("n", cluster.Gt, "4"), false},
		{req("n", cluster.Lt, "5"), true}, {req("n", cluster.Lt, "4"), false},
		{req("n", cluster.Gte, "4"), true}, {req("n", cluster.Gte, "5"), false},
		{req("n", cluster.Lte, "4"), true}, {req("n", cluster.Lte, "3"), false},
		{req("none", cluster.Lt, "5"), false}, {req("s", cluster.Lt, "5"), false}, {req("n", cluster.Gt, "x"), false},
		{req("n", cluster.Gt), false}, {req("n", "Near", "4"), false},
	}
	for _, c := range cases {
		if got := matches(&c.r, labels); got != c.want {
			t.Errorf("%s %s %v: %v, want %v", c.r.Key, c.r.Operator, c.r.Values, got, c.want)
		}
	}
}

func BenchmarkOverlays(b *testing.B) {
	types := embedded(b, "us-east-1").InstanceTypes(nil)
	overlays := []cluster.NodeOverlay{
		{Name: "a", Weight: 1, Requirements: []cluster.Requirement{req(labelFamily, cluster.In, "m5", "c5")}, Adjustment: ptr(-10.0), Percent: true},
		{Name: "b", Weight: 2, Requirements: []cluster.Requirement{req(cluster.LabelCapacityType, cluster.In, cluster.Spot)}, Adjustment: ptr(10.0), Percent: true},
	}
	b.ReportAllocs()
	for b.Loop() {
		WithOverlays(types, overlays, nil)
	}
}
