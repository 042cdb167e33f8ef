package naive

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

func TestOptimum(t *testing.T) {
	cases := []struct {
		name string
		f    *fixture
		want float64 // +Inf: not all can be placed
	}{
		{"one pod", newFixture().pod("x1"), .5},
		{"four to a node", newFixture().pod("x1").pod("x2").pod("x3").pod("x4"), .5},
		{"five need two", newFixture().pod("x1").pod("x2").pod("x3").pod("x4").pod("x5"), 1},
		{"on demand", newFixture().pod("x1", selecting(cluster.LabelCapacityType, "on-demand")).pod("x2"), 1},
		{"a standing node is free", newFixture().stand("s", "a").pod("x1").pod("x2"), 0},
		{"a standing node is free for some", newFixture().stand("s", "a").pod("x1", needs(cluster.CPU, 1500)).pod("x2", needs(cluster.CPU, 1500)), .5},
		{"apart", newFixture().pod("x1", apart(host, "x")).pod("x2", apart(host, "x")).pod("x3", apart(host, "x")), 1.5},
		{"apart by zone, a zone short", newFixture().pod("x1", apart(zone, "x")).pod("x2", apart(zone, "x")).pod("x3", apart(zone, "x")), math.Inf(1)},
		{"spread", newFixture().pod("x1", spreading(zone, 1)).pod("x2", spreading(zone, 1)), 1},
		{"two architectures", newFixture().pod("x1", selecting(cluster.LabelArch, "arm64")).pod("x2", selecting(cluster.LabelArch, "amd64")), 1.1},
		{"one claim for one pod at a time", newFixture().with(func(f *fixture) {
			f.snap.StorageClasses = []cluster.StorageClass{{Name: "any", Provisioner: ebsDriver, WaitForConsumer: true, Default: true}}
			f.snap.PVCs = []cluster.PVC{{Namespace: "default", Name: "alone", AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}}}
		}).pod("x1", mounting("alone"), apart(host, "x")).pod("x2", mounting("alone"), apart(host, "x")), math.Inf(1)},
		{"too large", newFixture().pod("x1", needs(cluster.CPU, 9000)), math.Inf(1)},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := Optimum(&tc.f.snap, func(string) []cluster.InstanceType { return tc.f.types })
			if ok == math.IsInf(tc.want, 1) || ok && !near(got.PricePerHour, tc.want) {
				t.Errorf("got %+v %t, want %g", got, ok, tc.want)
			}
		})
	}
}
