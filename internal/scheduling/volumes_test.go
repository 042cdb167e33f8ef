package scheduling_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/scheduling"
)

func TestVolumeZones(t *testing.T) {
	late := storage("late")
	check(t, []rule{
		{"a bound volume pins the zone", given(pvc("data", "pv"), pv("pv", "b"), pod("x", uses("data"))), at(zone), "x:b"},
		{"a bound volume in one of two zones", given(pool("default", requires(zone, cluster.In, "b", "c")), pvc("data", "pv"), pv("pv", "a", "b"), pod("x", uses("data"))), at(zone), "x:b"},
		{"a bound volume where nothing is sold", given(pvc("data", "pv"), pv("pv", "d"), pod("x", uses("data"))), where, "x:-"},
		{"a bound volume against the pod's selector", given(pvc("data", "pv"), pv("pv", "b"), pod("x", uses("data"), selects(zone, "a"))), where, "x:-"},
		{"two bound volumes in one zone", given(pvc("one", "pv1"), pv("pv1", "b"), pvc("two", "pv2"), pv("pv2", "b"), pod("x", uses("one"), uses("two"))), at(zone), "x:b"},
		{"two bound volumes in different zones", given(pvc("one", "pv1"), pv("pv1", "a"), pvc("two", "pv2"), pv("pv2", "b"), pod("x", uses("one"), uses("two"))), where, "x:-"},
		{"two pods with volumes in different zones", given(pvc("one", "pv1"), pv("pv1", "a"), pvc("two", "pv2"), pv("pv2", "b"), pod("x1", uses("one")), pod("x2", uses("two"))), at(zone), "x1:a x2:b"},
		{"a volume that can be reached from anywhere", given(pvc("data", "pv"), cluster.PV{Name: "pv", Driver: "efs.csi.aws.com"}, pod("x", uses("data"))), where, "x:new"},
		{"the zone by the driver's own label", given(pvc("data", "pv"), cluster.PV{Name: "pv", Driver: ebs, NodeAffinity: selector(exprs{expr("topology.ebs.csi.aws.com/zone", "In", "b")})}, pod("x", uses("data"))), at(zone), "x:b"},
		{"the zone by its old name", given(pvc("data", "pv"), cluster.PV{Name: "pv", Driver: ebs, NodeAffinity: selector(exprs{expr("failure-domain.beta.kubernetes.io/zone", "In", "b")})}, pod("x", uses("data"))), at(zone), "x:b"},
		{"a volume of either of two terms", given(pvc("data", "pv"), cluster.PV{Name: "pv", Driver: ebs, NodeAffinity: selector(exprs{expr(zone, "In", "d")}, exprs{expr(zone, "In", "c")})}, pod("x", uses("data"))), at(zone), "x:c"},
		{"on standing nodes of its zone", given(pvc("data", "pv"), pv("pv", "b"), node("n1", "a"), node("n2", "b"), pod("x", uses("data"))), where, "x:n2"},

		{"a volume to be made goes anywhere", given(late, unbound("data", "late"), pod("x", uses("data"))), where, "x:new"},
		{"allowedTopologies", given(storage("late", onlyIn(zone, []string{"c"})), unbound("data", "late"), pod("x", uses("data"))), at(zone), "x:c"},
		{"allowedTopologies by the driver's own label", given(storage("late", onlyIn("topology.ebs.csi.aws.com/zone", []string{"c"})), unbound("data", "late"), pod("x", uses("data"))), at(zone), "x:c"},
		{"allowedTopologies, one of two terms can be had", given(storage("late", onlyIn(zone, []string{"d"}, []string{"b"})), unbound("data", "late"), pod("x", uses("data"))), at(zone), "x:b"},
		{"allowedTopologies where nothing is sold", given(storage("late", onlyIn(zone, []string{"d"})), unbound("data", "late"), pod("x", uses("data"))), where, "x:-"},
		{"allowedTopologies and a bound volume", given(storage("late", onlyIn(zone, []string{"b", "c"})), unbound("data", "late"), pvc("old", "pv"), pv("pv", "a", "c"), pod("x", uses("data"), uses("old"))), at(zone), "x:c"},
		{"the default class", given(storage("late", standard, onlyIn(zone, []string{"b"})), unbound("data", ""), pod("x", uses("data"))), at(zone), "x:b"},
		{"an ephemeral volume of a class", given(storage("late", onlyIn(zone, []string{"b"})), pod("x", volume(cluster.Volume{Claim: "scratch", Ephemeral: true, StorageClass: "late"}))), at(zone), "x:b"},
		{"an ephemeral volume of the default class", given(storage("late", standard, onlyIn(zone, []string{"b"})), pod("x", volume(cluster.Volume{Claim: "scratch", Ephemeral: true}))), at(zone), "x:b"},
		{"a pod of another namespace has claims of its own", given(pvc("data", "pv"), pv("pv", "b"), pvc("data", "pv2", func(c *cluster.PVC) { c.Namespace = "other" }), pv("pv2", "c"), pod("x", in("other"), uses("data"))), at(zone), "x:c"},
	})
}

// TestVolumeProblems: a pod whose volumes cannot be had is left out with a reason
// that names them, and the rest is planned.
func TestVolumeProblems(t *testing.T) {
	lost := func(c *cluster.PVC) { c.Phase = corev1.ClaimLost }
	going := func(c *cluster.PVC) { c.Deleting = true }
	none := ""
	for _, c := range []struct {
		name  string
		given *scheduling.Problem
		want  string
	}{
		{"a claim that is not there", given(), `PersistentVolumeClaim "data" is not in namespace "default"`},
		{"a claim that is being deleted", given(pvc("data", "pv", going), pv("pv", "a")), `PersistentVolumeClaim "data" is being deleted`},
		{"a claim that is lost", given(pvc("data", "pv", lost)), `PersistentVolumeClaim "data" is Lost`},
		{"a volume that is not there", given(pvc("data", "pv")), `PersistentVolume "pv", to which PersistentVolumeClaim "data" is bound, is not there`},
		{"no class and no default one", given(unbound("data", "")), `no StorageClass`},
		{"a class named by nothing, be there a default one", given(storage("late", standard), cluster.PVC{Namespace: "default", Name: "data", StorageClass: &none}), `no StorageClass`},
		{"a class that is not there", given(unbound("data", "late")), `StorageClass "late", which is not there`},
		{"unbound and immediate", given(storage("now", immediate), unbound("data", "now")), `StorageClass "now" binds immediately`},
		{"topologies that contradict each other", given(storage("late", func(c *cluster.StorageClass) {
			c.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: zone, Values: []string{"a"}}, {Key: zone, Values: []string{"b"}}}}}
		}), unbound("data", "late")), `allowedTopologies of StorageClass "late" contradict`},
	} {
		t.Run(c.name, func(t *testing.T) {
			put(c.given, pod("x", uses("data")))
			put(c.given, pod("y"))
			o := solve(t, c.given)
			if got := where(o); got != "x:- y:new" {
				t.Errorf("placed %s", got)
			}
			if got := why(o); !strings.Contains(got, c.want) {
				t.Errorf("the reason is %q, want it to contain %q", got, c.want)
			}
		})
	}
}

func TestVolumeLimits(t *testing.T) {
	late := storage("late")
	claims := func(n int) []any {
		out := []any{late}
		for _, name := range []string{"d1", "d2", "d3", "d4", "d5"}[:n] {
			out = append(out, unbound(name, "late"), pod("x"+name[1:], uses(name)))
		}
		return out
	}
	with := func(list []any, more ...any) *scheduling.Problem { return given(append(list, more...)...) }
	two := pool("default", of(machine("large", 8, 32, 4, volumes(2))))
	inline := volume(cluster.Volume{Driver: ebs})
	check(t, []rule{
		{"a new node attaches what its type can", with(claims(5), two), loads, "2 2 1"},
		{"the type that attaches enough", given(late, unbound("d1", "late"), unbound("d2", "late"), unbound("d3", "late"), pool("default", of(machine("few", 2, 8, 1, volumes(2)), machine("many", 2, 8, 1.5, volumes(8)))), pod("x", uses("d1"), uses("d2"), uses("d3"))), typed, "x:many"},
		{"more than any type attaches", given(late, unbound("d1", "late"), unbound("d2", "late"), unbound("d3", "late"), two, pod("x", uses("d1"), uses("d2"), uses("d3"))), where, "x:-"},
		{"one claim twice in a pod is one volume", given(late, unbound("d1", "late"), pool("default", of(machine("one", 2, 8, 1, volumes(1)))), pod("x", uses("d1"), uses("d1"))), where, "x:new"},
		{"one claim in two pods is one volume on their node", given(pvc("d1", "pv"), pv("pv", "a"), noPool{}, node("n1", "a", attaches(ebs, 1)), pods(2, "x", uses("d1"))), where, "x1:n1 x2:n1"},
		{"a claim that a pod of the node has attached is no more to attach", given(pvc("d1", "pv"), pv("pv", "a"), noPool{}, node("n1", "a", attaches(ebs, 1), runs(pod("old", uses("d1")))), pod("x", uses("d1"))), where, "x:n1"},
		{"inline volumes count", given(two, pods(3, "x", inline)), loads, "2 1"},
		{"ephemeral volumes count", given(late, two, pods(3, "x", volume(cluster.Volume{Claim: "s", Ephemeral: true, StorageClass: "late"}))), loads, "2 1"},
		{"volumes of the in-tree driver count as EBS", given(late, two, pvc("d1", "pv1"), cluster.PV{Name: "pv1", Driver: "kubernetes.io/aws-ebs"}, unbound("d2", "late"), unbound("d3", "late"), pod("x", uses("d1"), uses("d2"), uses("d3"))), where, "x:-"},
		{"a driver without a limit of the type's", given(two, pods(3, "x", volume(cluster.Volume{Driver: "efs.csi.aws.com"}))), loads, "3"},
		{"a standing node attaches what its CSINode says", with(claims(3), noPool{}, node("n1", "a", attaches(ebs, 2))), loads, "2 left 1"},
		{"less what its pods have", given(late, unbound("d1", "late"), unbound("d2", "late"), pvc("old", "pv"), pv("pv", "a"), noPool{}, node("n1", "a", attaches(ebs, 2), runs(pod("old", uses("old")))), pod("x1", uses("d1")), pod("x2", uses("d2"))), loads, "1 left 1"},
		{"less what its pods have inline", given(late, unbound("d1", "late"), noPool{}, node("n1", "a", attaches(ebs, 1), runs(pod("old", inline))), pod("x1", uses("d1"))), where, "x1:-"},
		{"a limit of another driver does not matter", with(claims(3), noPool{}, node("n1", "a", attaches("efs.csi.aws.com", 1))), loads, "3"},
		{"a standing node that says nothing has no limit", with(claims(3), noPool{}, node("n1", "a")), loads, "3"},
		{"a node that is full of volumes takes pods without", given(noPool{}, node("n1", "a", attaches(ebs, 1), runs(pod("old", inline))), pod("x1")), where, "x1:n1"},
		{"a daemon's volumes count", given(late, pool("default", of(machine("large", 8, 32, 4, volumes(2))), daemon("d", volume(cluster.Volume{Claim: "s", Ephemeral: true, StorageClass: "late"}))), pods(2, "x", inline)), loads, "1 1"},
	})
}

// TestReadWriteOncePod: such a claim is one pod's.
func TestReadWriteOncePod(t *testing.T) {
	alone := func(c *cluster.PVC) {
		c.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
	}
	check(t, []rule{
		{"of two pods one has it", given(pvc("data", "pv", alone), pv("pv", "b"), pods(2, "x", uses("data"))), where, "x1:new x2:-"},
		{"the pod of higher priority", given(pvc("data", "pv", alone), pv("pv", "b"), pod("x1", uses("data")), pod("x2", uses("data"), priority(9))), where, "x1:- x2:new"},
		{"a pod that stands has it", given(pvc("data", "pv", alone), pv("pv", "a"), node("n1", "a", runs(pod("old", uses("data")))), pod("x", uses("data"))), where, "x:-"},
		{"a claim of another namespace is another claim", given(pvc("data", "pv", alone), pv("pv", "a"), pvc("data", "pv2", alone, func(c *cluster.PVC) { c.Namespace = "other" }), pv("pv2", "a"), pod("x1", uses("data")), pod("x2", in("other"), uses("data"))), where, "x1:new x2:new"},
		{"ReadWriteOnce may be shared on a node", given(pvc("data", "pv"), pv("pv", "b"), pods(2, "x", uses("data"))), where, "x1:new x2:new"},
	})
}
