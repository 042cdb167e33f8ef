package provisioning_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
	"github.com/dovetail-sh/dovetail/internal/provisioning"
)

// choice tells for each pod the NodePool and the cheapest type/capacity type of
// its new node.
func choice(p plan.Proposal) string {
	return places(p, func(n *plan.NewNode) string { return n.NodePool + "/" + n.InstanceType + "/" + n.CapacityType })
}

func TestNodePools(t *testing.T) {
	weighing := func(w int32) func(*cluster.NodePool) { return func(p *cluster.NodePool) { p.Weight = w } }
	ofClass := func(name string) func(*cluster.NodePool) {
		return func(p *cluster.NodePool) { p.NodeClass.Name = name }
	}
	replicas := int64(3)
	other := classTypes{"other", []cluster.InstanceType{machine("other", 2, 8, 0.1)}}
	for _, c := range []struct {
		name  string
		given *scene
		want  string
	}{
		{"the cheapest type, as spot", given(pod("x")), "x:default/small/spot"},
		{"without spot, if the settings say so", given(unchecked{}, provisioning.Options{NoSpot: true}, pod("x")), "x:default/small/on-demand"},
		{"none of spot is left for who insists, if the settings say so", given(unchecked{}, provisioning.Options{NoSpot: true}, pod("x", selects(cluster.LabelCapacityType, cluster.Spot))), "x:-"},
		{"the heaviest", given(pool("light"), pool("heavy", weighing(5)), pod("x")), "x:heavy/small/spot"},
		{"not one that is being deleted", given(pool("going", weighing(5), func(p *cluster.NodePool) { p.Deleting = true }), pool("default"), pod("x")), "x:default/small/spot"},
		{"not one of static capacity", given(pool("static", weighing(5), func(p *cluster.NodePool) { p.Replicas = &replicas }), pool("default"), pod("x")), "x:default/small/spot"},
		{"each has the types of its class", given(other, pool("default"), pool("second", ofClass("other")), pod("x")), "x:second/other/spot"},
		{"none", given(noPool{}, pod("x")), "x:-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := choice(decide(t, c.given)); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestNodePoolWithoutItsClass is planned with the defaults, and that is said.
func TestNodePoolWithoutItsClass(t *testing.T) {
	prop := decide(t, given(unchecked{}, pool("default", func(p *cluster.NodePool) { p.NodeClass.Name = "lost" }), pod("x")))
	if got := where(prop); got != "x:new" {
		t.Errorf("got %q", got)
	}
	if len(prop.Report.Warnings) != 1 || !strings.Contains(prop.Report.Warnings[0], `"lost"`) {
		t.Errorf("the warnings are %q, want one about the class", prop.Report.Warnings)
	}
}

// TestLimits: what is in use is the machines that stand and those on their way.
func TestLimits(t *testing.T) {
	ofOthers := func(n *cluster.Node) { n.Labels[cluster.LabelNodePool] = "other" }
	full := func(name string) []any { return []any{node(name), running("old-"+name, name, cpu(2000))} }
	with := func(list []any, more ...any) *scene { return given(append(list, more...)...) }
	six := limited(cluster.CPU, 4000)
	check(t, []rule{
		{"nothing is in use", given(pool("default", six), pod("x", cpu(2000)), pod("y", cpu(2000))), "x:new y:new"},
		{"a node is", with(full("n1"), pool("default", six), pod("x", cpu(2000)), pod("y", cpu(2000))), "x:new y:-"},
		{"a node that goes away is still", given(pool("default", limited(cluster.CPU, 2000)), node("n1", leaving), running("x", "n1")), "x:-"},
		{"a node of another NodePool is not", given(pool("default", limited(cluster.Nodes, 1)), node("n1", ofOthers), running("old", "n1", cpu(2000)), pod("x")), "x:new"},
		{"an unmanaged node is not", given(pool("default", limited(cluster.Nodes, 1)), node("n1", unmanaged), running("old", "n1", cpu(2000)), pod("x")), "x:new"},
		{"a claim in flight is", given(pool("default", limited(cluster.Nodes, 1)), claim("c1"), pod("x", cpu(1600)), pod("y", cpu(1600))), "x:c1 y:-"},
		{"a claim and its node are one", given(pool("default", limited(cluster.Nodes, 2)), node("n1"), claim("c1", of("n1")), pod("x", cpu(1600)), pod("y", cpu(1600))), "x:n1 y:new"},
		{"a node that reports no capacity yet has its claim's", given(pool("default", six), node("n1", starting, taint("own"), func(n *cluster.Node) { n.Capacity, n.Allocatable = nil, nil }), claim("c1", of("n1")), pod("x", cpu(2000)), pod("y", cpu(2000))), "x:new y:-"},
		{"nodes", with(full("n1"), pool("default", limited(cluster.Nodes, 1)), pod("x")), "x:-"},
		{"memory", given(pool("default", limited(cluster.Memory, 8*gib)), pod("x", asks(cluster.Memory, 8*gib)), pod("y", asks(cluster.Memory, 8*gib))), "x:new y:-"},
		{"the more important pod has what is left", given(pool("default", limited(cluster.CPU, 2000)), pod("x", cpu(2000)), pod("y", cpu(2000), func(p *cluster.Pod) { p.Priority = 5 })), "x:- y:new"},
	})
}

// TestOverlays change prices and resources.
func TestOverlays(t *testing.T) {
	price := func(p float64) func(*cluster.NodeOverlay) { return func(o *cluster.NodeOverlay) { o.Price = &p } }
	percent := func(p float64) func(*cluster.NodeOverlay) {
		return func(o *cluster.NodeOverlay) { o.Adjustment, o.Percent = &p, true }
	}
	about := func(key string, values ...string) func(*cluster.NodeOverlay) {
		return func(o *cluster.NodeOverlay) {
			o.Requirements = append(o.Requirements, cluster.Requirement{Key: key, Operator: cluster.In, Values: values})
		}
	}
	overlay := func(name string, changes ...func(*cluster.NodeOverlay)) cluster.NodeOverlay {
		o := cluster.NodeOverlay{Name: name}
		for _, c := range changes {
			c(&o)
		}
		return o
	}
	medium := about(cluster.LabelInstanceType, "medium")
	adds := func(o *cluster.NodeOverlay) { o.Capacity = res("example.com/dev", 1) }
	heavy := func(o *cluster.NodeOverlay) { o.Weight = 10 }
	for _, c := range []struct {
		name  string
		given *scene
		want  string
	}{
		{"a price", given(overlay("o", price(0.1), medium), pod("x")), "x:default/medium"},
		{"a discount", given(overlay("o", percent(-90), medium), pod("x")), "x:default/medium"},
		{"a surcharge", given(overlay("o", percent(400), about(cluster.LabelInstanceType, "small")), pod("x")), "x:default/medium"},
		{"the heavier of two", given(overlay("light", price(0.1), medium), overlay("heavy", price(9), medium, heavy), pod("x")), "x:default/small"},
		{"for one NodePool", given(overlay("o", price(0.1), medium, about(cluster.LabelNodePool, "other")), pool("default"), pool("other"), pod("x")), "x:other/medium"},
		{"a resource", given(overlay("o", adds, medium), pod("x", asks("example.com/dev", 1))), "x:default/medium"},
		{"a resource that is used up", given(overlay("o", adds, medium), pod("x", asks("example.com/dev", 2))), "x:-"},
		{"a resource for one NodePool", given(overlay("o", adds, about(cluster.LabelNodePool, "other")), pool("default"), pool("other"), pod("x", asks("example.com/dev", 1))), "x:other/small"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := places(decide(t, c.given), func(n *plan.NewNode) string { return n.NodePool + "/" + n.InstanceType })
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestHeadroom: the virtual pods of capacity buffers plan like others.
func TestHeadroom(t *testing.T) {
	virtual := func(p *cluster.Pod) { p.Virtual = true }
	check(t, []rule{
		{"on a new node", given(pod("x", virtual)), "x:new"},
		{"on a node that stands", given(node("n1"), pod("x", virtual)), "x:n1"},
		{"beside others", given(node("n1"), pod("x", virtual), pod("y", cpu(1500))), "x:n1 y:n1"},
		{"by its selector", given(node("n1"), pod("x", virtual, selects(zone, "b"))), "x:new"},
		{"within limits", given(pool("default", limited(cluster.Nodes, 0)), pod("x", virtual)), "x:-"},
	})
}

// TestSettings are those of the installation.
func TestSettings(t *testing.T) {
	over := func(key string) provisioning.Options {
		return provisioning.Options{DefaultSpread: []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: key, WhenUnsatisfiable: corev1.DoNotSchedule}}}
	}
	alike := func(p *cluster.Pod) { p.Labels = map[string]string{"app": "web"} }
	rather := func(p *cluster.Pod) {
		p.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
			{Weight: 100, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: zone, Operator: corev1.NodeSelectorOpIn, Values: []string{"b"}}}}}}}}
	}
	choosy := pool("default", func(p *cluster.NodePool) {
		p.Requirements = []cluster.Requirement{{Key: cluster.LabelInstanceType, Operator: cluster.Exists, MinValues: 4}}
	})
	for _, c := range []struct {
		name  string
		given *scene
		want  string
	}{
		{"no default spread", given(pod("x", alike), pod("y", alike)), "x:a|b y:a|b"},
		{"a default spread", given(over(zone), pod("x", alike), pod("y", alike)), "x:a y:b"},
		{"a preference", given(pod("x", rather)), "x:b"},
		{"preferences ignored", given(provisioning.Options{IgnorePreferences: true}, pod("x", rather)), "x:a|b"},
		{"minValues", given(choosy, pod("x")), "x:-"},
		{"minValues as far as they go", given(unchecked{}, provisioning.Options{MinValuesBestEffort: true}, choosy, pod("x")), "x:a|b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := places(decide(t, c.given), func(n *plan.NewNode) string {
				return strings.Join(slices.Sorted(slices.Values(n.Zones)), "|")
			})
			if got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
