package bench

import (
	"math"
	"testing"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

func sold(name, arch string, cpu, mem int64, price float64) cluster.InstanceType {
	return cluster.InstanceType{
		Name: name, Arch: arch, Allocatable: cluster.Resources{{Name: cluster.CPU, Amount: cpu}, {Name: cluster.Memory, Amount: mem}},
		Offerings: []cluster.Offering{{Zone: "a", CapacityType: cluster.OnDemand, Price: price}},
	}
}

func asking(cpu, mem int64, selector map[string]string) cluster.Pod {
	return cluster.Pod{NodeSelector: selector, Requests: cluster.Resources{{Name: cluster.CPU, Amount: cpu}, {Name: cluster.Memory, Amount: mem}}}
}

func TestBounds(t *testing.T) {
	arm := map[string]string{cluster.LabelArch: "arm64"}
	types := []cluster.InstanceType{sold("cores", "amd64", 100, 10, 1), sold("bytes", "amd64", 10, 100, 1), sold("arm", "arm64", 50, 50, 2)}
	daemon := []cluster.DaemonSet{{Template: asking(20, 0, nil)}}
	cases := []struct {
		name    string
		pods    []cluster.Pod
		daemons []cluster.DaemonSet
		want    Bounds
	}{
		{"nothing", nil, nil, Bounds{0, 0}},
		{"one type", []cluster.Pod{asking(100, 10, nil)}, nil, Bounds{1, 1}},
		{"two types", []cluster.Pod{asking(110, 110, nil)}, nil, Bounds{2, 2}},
		{"two groups", []cluster.Pod{asking(100, 10, nil), asking(50, 50, arm)}, nil, Bounds{21. / 11, 3}}, // 16/11 of cores and 5/11 of bytes
		{"daemons", []cluster.Pod{asking(80, 8, nil)}, daemon, Bounds{1, 1}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got := BoundsOf(tc.pods, types, tc.daemons)
			if math.Abs(got.Fractional-tc.want.Fractional) > 1e-9 || math.Abs(got.Apart-tc.want.Apart) > 1e-9 {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}
