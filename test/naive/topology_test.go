package naive

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

func TestSpread(t *testing.T) {
	min := func(n int32) func(*corev1.TopologySpreadConstraint) {
		return func(s *corev1.TopologySpreadConstraint) { s.MinDomains = &n }
	}
	affinity := func(p corev1.NodeInclusionPolicy) func(*corev1.TopologySpreadConstraint) {
		return func(s *corev1.TopologySpreadConstraint) { s.NodeAffinityPolicy = &p }
	}
	taints := func(p corev1.NodeInclusionPolicy) func(*corev1.TopologySpreadConstraint) {
		return func(s *corev1.TopologySpreadConstraint) { s.NodeTaintsPolicy = &p }
	}
	keys := func(s *corev1.TopologySpreadConstraint) { s.MatchLabelKeys = []string{"hash"} }
	closed := func(n *cluster.Node) {
		n.Taints = []corev1.Taint{{Key: "t", Effect: corev1.TaintEffectNoSchedule}}
	}
	both := func(zones ...string) *fixture {
		return newFixture().stand("s", "a").stand("z", "b").pod("x1", spreading(zone, 1)).pod("x2", spreading(zone, 1)).plan("n", "small", zones[0], "x1").plan("m", "small", zones[1], "x2")
	}
	inA := selecting(zone, "a")
	run(t, []one{
		{"even", both("a", "b"), ""},
		{"uneven", both("a", "a"), "spread over " + zone},
		{"only one zone stands", newFixture().pod("x1", spreading(zone, 1)).pod("x2", spreading(zone, 1)).plan("n", "small", "a", "x1").plan("m", "small", "a", "x2"), ""},
		{"minDomains not reached", newFixture().pod("x1", spreading(zone, 1, min(2))).pod("x2", spreading(zone, 1, min(2))).plan("n", "small", "a", "x1").plan("m", "small", "a", "x2"), "spread over"},
		{"what runs counts", newFixture().stand("s", "a").stand("z", "b").pod("x1", on("s")).pod("x2", spreading(zone, 1)).plan("n", "small", "a", "x2"), "spread over"},
		{"what is being deleted does not count", newFixture().stand("s", "a").stand("z", "b").pod("x1", on("s"), func(p *cluster.Pod) { p.Deleting = true }).pod("x2", spreading(zone, 1)).plan("n", "small", "a", "x2"), ""},
		{"another namespace does not count", newFixture().stand("s", "a").stand("z", "b").pod("x1", on("s"), in("other")).pod("x2", spreading(zone, 1)).plan("n", "small", "a", "x2"), ""},
		{"affinity honoured", newFixture().stand("z", "b").pod("x1", spreading(zone, 1), inA).pod("x2", spreading(zone, 1), inA).plan("n", "small", "a", "x1", "x2"), ""},
		{"affinity ignored", newFixture().stand("z", "b").pod("x1", spreading(zone, 1, affinity("Ignore")), inA).pod("x2", spreading(zone, 1, affinity("Ignore")), inA).plan("n", "small", "a", "x1", "x2"), "spread over"},
		{"taints ignored", newFixture().stand("z", "b", closed).pod("x1", spreading(zone, 1)).pod("x2", spreading(zone, 1)).plan("n", "small", "a", "x1", "x2"), "spread over"},
		{"taints honoured", newFixture().stand("z", "b", closed).pod("x1", spreading(zone, 1, taints("Honor"))).pod("x2", spreading(zone, 1, taints("Honor"))).plan("n", "small", "a", "x1", "x2"), ""},
		{"hosts", newFixture().stand("s", "a").pod("x1", spreading(host, 1)).pod("x2", spreading(host, 1)).plan("n", "small", "a", "x1", "x2"), "spread over"},
		{"matchLabelKeys tells revisions apart", newFixture().stand("s", "a").stand("z", "b").
			pod("x1", on("s"), labelled(map[string]string{"app": "x", "hash": "1"})).
			pod("x2", labelled(map[string]string{"app": "x", "hash": "2"}), spreading(zone, 1, keys)).plan("n", "small", "a", "x2"), ""},
		{"matchLabelKeys of one revision", newFixture().stand("s", "a").stand("z", "b").
			pod("x1", on("s"), labelled(map[string]string{"app": "x", "hash": "2"})).
			pod("x2", labelled(map[string]string{"app": "x", "hash": "2"}), spreading(zone, 1, keys)).plan("n", "small", "a", "x2"), "spread over"},
		{"a key that the node lacks", newFixture().pod("x1", spreading("rack", 1)).plan("n", "small", "a", "x1"), "no label rack"},
		{"over capacity types", newFixture().pod("x1", spreading(cluster.LabelCapacityType, 1)).pod("x2", spreading(cluster.LabelCapacityType, 1)).
			planAny("n", []string{"small"}, []string{"a"}, []string{"spot"}, "x1").plan("m", "small", "a", "x2"), ""},
		{"soft", newFixture().stand("s", "a").stand("z", "b").pod("x1", spreading(zone, 1, func(s *corev1.TopologySpreadConstraint) { s.WhenUnsatisfiable = corev1.ScheduleAnyway })).
			pod("x2", on("s")).pod("x3", on("s")).plan("n", "small", "a", "x1"), ""},
		{"one of the listed zones", newFixture().stand("s", "a").stand("z", "b").pod("x1", on("s")).pod("x2", spreading(zone, 1)).planAny("n", []string{"small"}, []string{"a", "b"}, []string{"on-demand"}, "x2"), "spread over"},
		{"listed zones taken together", newFixture().stand("s", "a").stand("z", "b").pod("x1", spreading(zone, 2), needs(cluster.CPU, 2000)).pod("x2", spreading(zone, 2), needs(cluster.CPU, 2000)).pod("x3", spreading(zone, 2), needs(cluster.CPU, 2000)).
			planAny("l", []string{"small"}, []string{"a"}, []string{"on-demand"}, "x1").
			planAny("m", []string{"small"}, []string{"a", "b"}, []string{"on-demand"}, "x2").
			plan("n", "small", "b", "x3"), ""},
		{"listed zones taken together, too many", newFixture().stand("s", "a").stand("z", "b").stand("y", "b").
			pod("x0", spreading(zone, 2)).pod("x1", spreading(zone, 2)).pod("x2", spreading(zone, 2)).
			plan("k", "small", "a", "x0").
			planAny("m", []string{"small"}, []string{"a", "b"}, []string{"on-demand"}, "x1").
			planAny("n", []string{"small"}, []string{"a", "b"}, []string{"on-demand"}, "x2").
			with(func(f *fixture) { f.report.NewNodes[1].Zone, f.report.NewNodes[2].Zone = "b", "b" }), "every node"},
	})
}

func TestPodAffinity(t *testing.T) {
	spaces := func(ns ...string) func(*corev1.PodAffinityTerm) {
		return func(x *corev1.PodAffinityTerm) { x.Namespaces = ns }
	}
	labelledSpaces := func(kv map[string]string) func(*corev1.PodAffinityTerm) {
		return func(x *corev1.PodAffinityTerm) {
			x.NamespaceSelector = &metav1.LabelSelector{MatchLabels: kv}
		}
	}
	run(t, []one{
		{"together in a zone", newFixture().pod("x1", near1(zone, "x")).pod("x2", near1(zone, "x")).plan("n", "small", "a", "x1").plan("m", "small", "a", "x2"), ""},
		{"apart where together is asked", newFixture().pod("x1", near1(zone, "x")).pod("x2", near1(zone, "x")).plan("n", "small", "a", "x1").plan("m", "small", "b", "x2"), "required pod affinity"},
		{"the first of its kind", newFixture().pod("x1", near1(zone, "x")).plan("n", "small", "a", "x1"), ""},
		{"the first, beside nobody it asks for", newFixture().pod("x1", near1(zone, "y")).plan("n", "small", "a", "x1"), "required pod affinity"},
		{"beside one that runs", newFixture().stand("s", "a").pod("y1", on("s")).pod("x1", near1(zone, "y")).plan("n", "small", "a", "x1"), ""},
		{"beside one in another namespace", newFixture().stand("s", "a").pod("y1", on("s"), in("other")).pod("x1", near1(zone, "y")).plan("n", "small", "a", "x1"), "required pod affinity"},
		{"in the namespace that is named", newFixture().stand("s", "a").pod("y1", on("s"), in("other")).pod("x1", near1(zone, "y", spaces("other"))).plan("n", "small", "a", "x1"), ""},
		{"in the namespace that is selected", newFixture().stand("s", "a").pod("y1", on("s"), in("other")).pod("x1", near1(zone, "y", labelledSpaces(map[string]string{"team": "x"}))).plan("n", "small", "a", "x1"), ""},
		{"in every namespace", newFixture().stand("s", "a").pod("y1", on("s"), in("other")).pod("x1", near1(zone, "y", labelledSpaces(nil))).plan("n", "small", "a", "x1"), ""},
		{"beside a daemon", newFixture().with(daemon()).pod("x1", near1(host, "d", spaces("kube-system"))).plan("n", "small", "a", "x1").with(countDaemons), ""},
		{"each beside the other, and neither first", newFixture().pod("x1", near1(zone, "y")).pod("y1", near1(zone, "x")).plan("n", "small", "a", "x1", "y1"), "no order"},
		{"beside one that is planned too", newFixture().pod("x1", near1(zone, "y")).pod("y1").plan("n", "small", "a", "x1", "y1"), ""},
		{"where the zone is left open", newFixture().stand("s", "a").pod("y1", on("s")).pod("x1", near1(zone, "y")).planAny("n", []string{"small"}, []string{"a", "b"}, []string{"on-demand"}, "x1"), "required pod affinity"},

		{"anti-affinity on one host", newFixture().pod("x1", apart(host, "x")).pod("x2", apart(host, "x")).plan("n", "small", "a", "x1", "x2"), "anti-affinity"},
		{"anti-affinity on two hosts", newFixture().pod("x1", apart(host, "x")).pod("x2", apart(host, "x")).plan("n", "small", "a", "x1").plan("m", "small", "a", "x2"), ""},
		{"anti-affinity in one zone", newFixture().pod("x1", apart(zone, "x")).pod("x2", apart(zone, "x")).plan("n", "small", "a", "x1").plan("m", "small", "a", "x2"), "anti-affinity"},
		{"anti-affinity where the zones are left open", newFixture().pod("x1", apart(zone, "x")).pod("x2", apart(zone, "x")).
			plan("n", "small", "a", "x1").planAny("m", []string{"small"}, []string{"a", "b"}, []string{"on-demand"}, "x2"), "anti-affinity"},
		{"anti-affinity that one has against the other", newFixture().pod("x1", apart(host, "y")).pod("y1").plan("n", "small", "a", "x1", "y1"), "anti-affinity"},
		{"anti-affinity of one that runs", newFixture().stand("s", "a").pod("y1", on("s"), apart(zone, "x")).pod("x1").plan("n", "small", "a", "x1"), "has anti-affinity"},
		{"anti-affinity of one that runs elsewhere", newFixture().stand("s", "b").pod("y1", on("s"), apart(zone, "x")).pod("x1").plan("n", "small", "a", "x1"), ""},
		{"mismatchLabelKeys", newFixture().
			pod("x1", labelled(map[string]string{"app": "x", "tenant": "1"}), apart(host, "x", func(x *corev1.PodAffinityTerm) { x.MismatchLabelKeys = []string{"tenant"} })).
			pod("x2", labelled(map[string]string{"app": "x", "tenant": "1"})).plan("n", "small", "a", "x1", "x2"), ""},
		{"mismatchLabelKeys of two tenants", newFixture().
			pod("x1", labelled(map[string]string{"app": "x", "tenant": "1"}), apart(host, "x", func(x *corev1.PodAffinityTerm) { x.MismatchLabelKeys = []string{"tenant"} })).
			pod("x2", labelled(map[string]string{"app": "x", "tenant": "2"})).plan("n", "small", "a", "x1", "x2"), "anti-affinity"},
	})
}

func TestVolumes(t *testing.T) {
	claims := func(f *fixture) {
		fast, slow := "fast", "at-once"
		f.snap.StorageClasses = []cluster.StorageClass{
			{Name: fast, Provisioner: ebsDriver, WaitForConsumer: true, AllowedTopologies: []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: zone, Values: []string{"a"}}}}}},
			{Name: "any", Provisioner: ebsDriver, WaitForConsumer: true, Default: true},
			{Name: slow, Provisioner: ebsDriver},
		}
		f.snap.PVs = []cluster.PV{{Name: "pv", Driver: ebsDriver, NodeAffinity: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: req(zone, "In", "b")}}}}}
		f.snap.PVCs = []cluster.PVC{
			{Namespace: "default", Name: "bound", VolumeName: "pv", Phase: corev1.ClaimBound},
			{Namespace: "default", Name: "fast", StorageClass: &fast, Phase: corev1.ClaimPending},
			{Namespace: "default", Name: "any", Phase: corev1.ClaimPending},
			{Namespace: "default", Name: "two", Phase: corev1.ClaimPending},
			{Namespace: "default", Name: "three", Phase: corev1.ClaimPending},
			{Namespace: "default", Name: "at-once", StorageClass: &slow, Phase: corev1.ClaimPending},
			{Namespace: "default", Name: "alone", Phase: corev1.ClaimPending, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}},
		}
	}
	base := func() *fixture { return newFixture().with(claims) }
	run(t, []one{
		{"bound, in its zone", base().pod("x1", mounting("bound")).plan("n", "small", "b", "x1"), ""},
		{"bound, elsewhere", base().pod("x1", mounting("bound")).plan("n", "small", "a", "x1"), "cannot be reached"},
		{"bound, the zone left open", base().pod("x1", mounting("bound")).planAny("n", []string{"small"}, []string{"a", "b"}, []string{"on-demand"}, "x1"), "cannot be reached"},
		{"class with topologies", base().pod("x1", mounting("fast")).plan("n", "small", "a", "x1"), ""},
		{"class with other topologies", base().pod("x1", mounting("fast")).plan("n", "small", "b", "x1"), "not allowed in this topology"},
		{"class that binds at once", base().pod("x1", mounting("at-once")).plan("n", "small", "a", "x1"), "binds at once"},
		{"no claim", base().pod("x1", mounting("none")).plan("n", "small", "a", "x1"), "is not there"},
		{"as many as the type attaches", base().pod("x1", mounting("any"), mounting("two")).plan("n", "small", "a", "x1"), ""},
		{"more than the type attaches", base().pod("x1", mounting("any"), mounting("two")).pod("x2", mounting("three")).plan("n", "small", "a", "x1", "x2"), "volumes of " + ebsDriver},
		{"one disk of two pods is one", base().pod("x1", mounting("any"), mounting("two")).pod("x2", mounting("two")).plan("n", "small", "a", "x1", "x2"), ""},
		{"more than a standing node attaches", base().stand("s", "a", func(n *cluster.Node) { n.VolumeLimits = map[string]int64{ebsDriver: 1} }).pod("y1", on("s"), mounting("any")).pod("x1", mounting("two")).use("s", "x1"), "volumes of " + ebsDriver},
		{"a claim for one pod at a time", base().pod("x1", mounting("alone")).pod("x2", mounting("alone")).plan("n", "small", "a", "x1", "x2"), "for one pod at a time"},
		{"an ephemeral volume of a class", base().pod("x1", func(p *cluster.Pod) { p.Volumes = []cluster.Volume{{Ephemeral: true, StorageClass: "fast"}} }).plan("n", "small", "b", "x1"), "not allowed in this topology"},
	})
}
