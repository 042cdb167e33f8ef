package plan

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

var web = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}

// only selects one pod by its name.
func only(pod string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"pod": pod}}
}

func spread(key string, skew int32, of *metav1.LabelSelector, change ...func(*corev1.TopologySpreadConstraint)) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		s := corev1.TopologySpreadConstraint{TopologyKey: key, MaxSkew: skew, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: of}
		for _, c := range change {
			c(&s)
		}
		p.Spread = append(p.Spread, s)
	}
}

func affinity(key string, of *metav1.LabelSelector, change ...func(*corev1.PodAffinityTerm)) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		t := corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: of}
		for _, c := range change {
			c(&t)
		}
		if p.Affinity == nil {
			p.Affinity = &corev1.Affinity{}
		}
		if p.Affinity.PodAffinity == nil {
			p.Affinity.PodAffinity = &corev1.PodAffinity{}
		}
		list := &p.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		*list = append(*list, t)
	}
}

func apart(key string, of *metav1.LabelSelector, change ...func(*corev1.PodAffinityTerm)) func(*cluster.Pod) {
	return func(p *cluster.Pod) {
		affinity(key, of, change...)(p)
		p.Affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: p.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution}
		p.Affinity.PodAffinity = nil
	}
}

// zonal makes a plan of new nodes alone, each in the zones given, each with as
// many pods as its count says: nZ-0, nZ-1 and so on for node Z of them, all
// changed alike. The nodes that stand and fly stay without pods.
func zonal(nodes []string, counts []int, change func(*cluster.Pod)) func(*fixture) {
	return func(f *fixture) {
		f.snap.Pods, f.nodes, f.existing, f.left = nil, nil, nil, nil
		for i, zones := range nodes {
			var list []string
			for _, z := range zones {
				list = append(list, "us-east-1"+string(z))
			}
			f.nodes = append(f.nodes, f.node(fmt.Sprintf("n%d", i), list))
			for k := range counts[i] {
				f.add(i, fmt.Sprintf("n%d-%d", i, k), change)
			}
		}
	}
}

// alone takes away what stands and flies.
func alone(change func(*fixture)) func(*fixture) {
	return func(f *fixture) {
		change(f)
		f.snap.Nodes, f.snap.Claims = nil, nil
	}
}

func TestCheckSpread(t *testing.T) {
	zone := func(skew int32, change ...func(*corev1.TopologySpreadConstraint)) func(*cluster.Pod) {
		return spread(cluster.LabelZone, skew, web, change...)
	}
	minDomains := func(n int32) func(*corev1.TopologySpreadConstraint) {
		return func(s *corev1.TopologySpreadConstraint) { s.MinDomains = &n }
	}
	runSpoiled(t, []spoiled{
		{"even", alone(zonal([]string{"a", "b", "c"}, []int{2, 1, 2}, zone(1))), "", "", ""},
		{"uneven", alone(zonal([]string{"a", "b", "c"}, []int{3, 1, 2}, zone(1))), RuleSpread, "n0", "ns/n0-0"},
		{"within the skew", alone(zonal([]string{"a", "b", "c"}, []int{3, 1, 2}, zone(2))), "", "", ""},
		{"a wish only", alone(zonal([]string{"a", "b"}, []int{5, 1}, zone(1, func(s *corev1.TopologySpreadConstraint) { s.WhenUnsatisfiable = corev1.ScheduleAnyway }))), "", "", ""},
		{"a node may be in two zones", alone(zonal([]string{"a", "ab"}, []int{1, 1}, zone(1))), "", "", ""},
		{"two nodes may be in one zone", alone(zonal([]string{"a", "ab", "ab", "b"}, []int{1, 1, 1, 1}, zone(1))), RuleSpread, "n0", "ns/n0-0"},
		{"a node may leave a zone empty", func(f *fixture) {
			alone(zonal([]string{"a", "ab", "b"}, []int{1, 1, 1}, zone(1)))(f)
			f.snap.Pods[2].Labels = map[string]string{"app": "other"} // the pod that is surely in b is none of the rule's
			f.snap.Pods[2].Spread = nil
		}, RuleSpread, "n0", "ns/n0-0"},
		{"a zone that may come to be", func(f *fixture) {
			alone(zonal([]string{"a", "ab"}, []int{2, 1}, zone(1)))(f)
			f.snap.Pods[2].Labels = map[string]string{"app": "other"}
			f.snap.Pods[2].Spread = nil
		}, RuleSpread, "n0", "ns/n0-0"},
		{"a standing node's zone counts", func(f *fixture) {
			zonal([]string{"b"}, []int{2}, zone(1))(f)
			f.snap.Claims = nil
		}, RuleSpread, "n0", "ns/n0-0"},
		{"a standing node's pods count", func(f *fixture) {
			zonal([]string{"a", "b"}, []int{1, 1}, zone(1))(f)
			f.snap.Claims = nil
			f.snap.Pods = append(f.snap.Pods, running("old", "standing"), running("older", "standing"))
		}, RuleSpread, "n0", "ns/n0-0"},
		{"pods that are being deleted do not", func(f *fixture) {
			zonal([]string{"a", "b"}, []int{1, 1}, zone(1))(f)
			f.snap.Claims = nil
			p := running("old", "standing")
			p.Deleting = true
			f.snap.Pods = append(f.snap.Pods, p)
		}, "", "", ""},
		{"pods of other namespaces do not", func(f *fixture) {
			zonal([]string{"a", "b"}, []int{1, 1}, zone(1))(f)
			f.snap.Claims = nil
			p := running("old", "standing")
			p.Namespace = "other"
			f.snap.Pods = append(f.snap.Pods, p)
		}, "", "", ""},
		{"nodes that the pod may not use do not count", func(f *fixture) {
			zonal([]string{"b"}, []int{2}, func(p *cluster.Pod) {
				zone(1)(p)
				p.NodeSelector = map[string]string{teamKey: "red"}
			})(f)
			f.snap.Claims = nil
		}, "", "", ""},
		{"unless the rule says so", func(f *fixture) {
			zonal([]string{"b"}, []int{2}, func(p *cluster.Pod) {
				ignore := corev1.NodeInclusionPolicyIgnore
				zone(1, func(s *corev1.TopologySpreadConstraint) { s.NodeAffinityPolicy = &ignore })(p)
				p.NodeSelector = map[string]string{teamKey: "red"}
			})(f)
			f.snap.Claims = nil
		}, RuleSpread, "n0", "ns/n0-0"},
		{"taints do not matter", func(f *fixture) {
			zonal([]string{"b"}, []int{2}, zone(1))(f)
			f.snap.Claims, f.snap.Nodes[0].Cordoned = nil, true
		}, RuleSpread, "n0", "ns/n0-0"},
		{"unless the rule says that they do", func(f *fixture) {
			honor := corev1.NodeInclusionPolicyHonor
			zonal([]string{"b"}, []int{2}, zone(1, func(s *corev1.TopologySpreadConstraint) { s.NodeTaintsPolicy = &honor }))(f)
			f.snap.Claims, f.snap.Nodes[0].Cordoned = nil, true
		}, "", "", ""},
		{"enough domains", alone(zonal([]string{"a", "b"}, []int{2, 2}, zone(1, minDomains(2)))), "", "", ""},
		{"too few domains", alone(zonal([]string{"a", "b"}, []int{2, 2}, zone(1, minDomains(3)))), RuleSpread, "n0", "ns/n0-0"},
		{"pods of one revision", alone(zonal([]string{"a", "b"}, []int{2, 1}, func(p *cluster.Pod) {
			zone(1, func(s *corev1.TopologySpreadConstraint) { s.MatchLabelKeys = []string{"pod"} })(p)
		})), "", "", ""},
		{"no label to spread over", alone(zonal([]string{"a"}, []int{1}, spread("example.com/rack", 1, web))), RuleSpread, "n0", "ns/n0-0"},
		{"by node", alone(zonal([]string{"a", "b"}, []int{2, 1}, spread(cluster.LabelHostname, 1, web))), "", "", ""},
		{"by node, uneven", alone(zonal([]string{"a", "b"}, []int{3, 1}, spread(cluster.LabelHostname, 1, web))), RuleSpread, "n0", "ns/n0-0"},
		{"by node, one of them empty", zonal([]string{"a", "b"}, []int{2, 2}, spread(cluster.LabelHostname, 1, web)), RuleSpread, "n0", "ns/n0-0"},
		{"by node, too few", alone(zonal([]string{"a", "b"}, []int{2, 2}, spread(cluster.LabelHostname, 1, web, minDomains(3)))), RuleSpread, "n0", "ns/n0-0"},
		{"daemons that the rule counts", func(f *fixture) {
			zonal([]string{"a"}, []int{1}, spread(cluster.LabelHostname, 1, web))(f)
			f.daemon("agent", func(p *cluster.Pod) {
				p.Labels, p.Requests, p.NodeSelector = map[string]string{"app": "web"}, nil, map[string]string{teamKey: "red"}
			})
		}, RuleSpread, "n0", "ns/n0-0"},
	})
}

func TestCheckAntiAffinity(t *testing.T) {
	byZone, byNode := apart(cluster.LabelZone, web), apart(cluster.LabelHostname, web)
	runSpoiled(t, []spoiled{
		{"one in each zone", alone(zonal([]string{"a", "b", "c"}, []int{1, 1, 1}, byZone)), "", "", ""},
		{"two in one zone", alone(zonal([]string{"a", "a"}, []int{1, 1}, byZone)), RuleAntiAffinity, "n0", "ns/n0-0"},
		{"two that may meet", alone(zonal([]string{"ab", "bc"}, []int{1, 1}, byZone)), RuleAntiAffinity, "n0", "ns/n0-0"},
		{"one on each node", alone(zonal([]string{"a", "a"}, []int{1, 1}, byNode)), "", "", ""},
		{"two on a node", alone(zonal([]string{"a"}, []int{2}, byNode)), RuleAntiAffinity, "n0", "ns/n0-0"},
		{"against one that runs", func(f *fixture) { byNode(f.pod("onto-standing")) }, RuleAntiAffinity, "standing", "ns/onto-standing"},
		{"of one that runs", func(f *fixture) { byNode(f.pod("old")) }, RuleAntiAffinity, "standing", "ns/onto-standing"},
		{"between two that run", func(f *fixture) {
			f.snap.Pods = append(f.snap.Pods, running("older", "standing"))
			for _, name := range []string{"old", "older"} {
				f.pod(name).Labels = map[string]string{"app": "db"}
				apart(cluster.LabelHostname, &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}})(f.pod(name))
			}
		}, "", "", ""},
		{"against another namespace's", func(f *fixture) {
			f.pod("old").Namespace = "other"
			byNode(f.pod("onto-standing"))
		}, "", "", ""},
		{"against named namespaces", func(f *fixture) {
			f.pod("old").Namespace = "other"
			apart(cluster.LabelHostname, web, func(t *corev1.PodAffinityTerm) { t.Namespaces = []string{"other"} })(f.pod("onto-standing"))
		}, RuleAntiAffinity, "standing", "ns/onto-standing"},
		{"against namespaces by their labels", func(f *fixture) {
			apart(cluster.LabelHostname, web, func(t *corev1.PodAffinityTerm) {
				t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "x"}}
			})(f.pod("onto-standing"))
		}, RuleAntiAffinity, "standing", "ns/onto-standing"},
		{"against other revisions", func(f *fixture) {
			apart(cluster.LabelHostname, web, func(t *corev1.PodAffinityTerm) { t.MismatchLabelKeys = []string{"pod"} })(f.pod("onto-standing"))
		}, RuleAntiAffinity, "standing", "ns/onto-standing"},
		{"by an expression", func(f *fixture) {
			apart(cluster.LabelHostname, &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "pod", Operator: metav1.LabelSelectorOpIn, Values: []string{"two", "none"}}}})(f.pod("one"))
		}, RuleAntiAffinity, "new", "ns/one"},
		{"by an expression that no value anchors", func(f *fixture) {
			apart(cluster.LabelHostname, &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}})(f.pod("one"))
		}, RuleAntiAffinity, "new", "ns/one"},
		{"against nobody", func(f *fixture) { apart(cluster.LabelHostname, nil)(f.pod("one")) }, "", "", ""},
		{"a label that the nodes lack", func(f *fixture) { apart("example.com/rack", web)(f.pod("one")) }, "", "", ""},
		{"against a daemon", func(f *fixture) {
			f.daemon("agent", func(p *cluster.Pod) { p.Requests = nil })
			apart(cluster.LabelHostname, &metav1.LabelSelector{MatchLabels: map[string]string{"daemon": "agent"}})(f.pod("one"))
		}, RuleAntiAffinity, "new", "ns/one"},
	})
}

func TestCheckAffinity(t *testing.T) {
	byZone := affinity(cluster.LabelZone, web)
	runSpoiled(t, []spoiled{
		{"in one zone", alone(zonal([]string{"a", "a"}, []int{1, 1}, byZone)), "", "", ""},
		{"on one node that may be anywhere", alone(zonal([]string{"abc"}, []int{2}, byZone)), "", "", ""},
		{"the first of its kind", alone(zonal([]string{"abc"}, []int{1}, byZone)), "", "", ""},
		{"in two zones", alone(zonal([]string{"a", "b"}, []int{1, 1}, byZone)), RuleAffinity, "n0", "ns/n0-0"},
		{"perhaps in two zones", alone(zonal([]string{"a", "ab"}, []int{1, 1}, byZone)), RuleAffinity, "n0", "ns/n0-0"},
		{"two in each of two zones", alone(zonal([]string{"a", "b"}, []int{2, 2}, byZone)), RuleOrder, "n1", "ns/n1-0"},
		{"with nobody", func(f *fixture) { affinity(cluster.LabelZone, only("none"))(f.pod("one")) }, RuleAffinity, "new", "ns/one"},
		{"with one that runs", func(f *fixture) { affinity(cluster.LabelHostname, only("old"))(f.pod("onto-standing")) }, "", "", ""},
		{"with one that runs elsewhere", func(f *fixture) { affinity(cluster.LabelHostname, only("old"))(f.pod("onto-flying")) }, RuleAffinity, "flying", "ns/onto-flying"},
		{"with one on the same new node", func(f *fixture) { affinity(cluster.LabelZone, only("two"))(f.pod("one")) }, "", "", ""},
		{"no label", func(f *fixture) { affinity("example.com/rack", web)(f.pod("one")) }, RuleAffinity, "new", "ns/one"},
		{"two terms, no pod for both", func(f *fixture) {
			affinity(cluster.LabelHostname, only("two"))(f.pod("one"))
			affinity(cluster.LabelHostname, only("three"))(f.pod("one"))
		}, RuleAffinity, "new", "ns/one"},
		{"two terms", func(f *fixture) {
			affinity(cluster.LabelHostname, only("two"))(f.pod("one"))
			affinity(cluster.LabelZone, web)(f.pod("one"))
		}, "", "", ""},
		{"one after the other", func(f *fixture) {
			affinity(cluster.LabelHostname, only("two"))(f.pod("one"))
			affinity(cluster.LabelHostname, only("three"))(f.pod("two"))
		}, "", "", ""},
		{"each after the other", func(f *fixture) {
			affinity(cluster.LabelHostname, only("two"))(f.pod("one"))
			affinity(cluster.LabelHostname, only("one"))(f.pod("two"))
		}, RuleOrder, "new", "ns/two"},
		{"with a daemon", func(f *fixture) {
			f.daemon("agent", func(p *cluster.Pod) { p.Requests = nil })
			affinity(cluster.LabelHostname, &metav1.LabelSelector{MatchLabels: map[string]string{"daemon": "agent"}})(f.pod("one"))
		}, "", "", ""},
	})
}
