package naive

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// one is a plan and what Check must say of it: nothing, or exactly one kind of
// thing, which contains want.
type one struct {
	name string
	f    *fixture
	want string
}

func run(t *testing.T, cases []one) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got := tc.f.check()
			switch {
			case tc.want == "" && len(got) > 0:
				t.Errorf("refused a valid plan:\n%s", strings.Join(got, "\n"))
			case tc.want != "" && len(got) == 0:
				t.Errorf("accepted the plan, want %q", tc.want)
			case tc.want != "":
				for _, g := range got {
					if !strings.Contains(g, tc.want) {
						t.Errorf("got %q, want only %q", g, tc.want)
					}
				}
			}
		})
	}
}

const (
	zone = cluster.LabelZone
	host = cluster.LabelHostname
)

func TestNodeRules(t *testing.T) {
	gpu := func(f *fixture) { f.types[0].Allocatable = f.types[0].Allocatable.With("nvidia.com/gpu", 1) }
	tainted := func(p *cluster.NodePool) {
		p.Taints = []corev1.Taint{{Key: "dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
	}
	run(t, []one{
		{"one pod on one node", newFixture().pod("x1").plan("n", "small", "a", "x1"), ""},
		{"full to the brim", newFixture().pod("x1", needs(cluster.CPU, 2000)).plan("n", "small", "a", "x1"), ""},
		{"cpu", newFixture().pod("x1", needs(cluster.CPU, 1500)).pod("x2", needs(cluster.CPU, 501)).plan("n", "small", "a", "x1", "x2"), "insufficient cpu"},
		{"memory", newFixture().pod("x1", needs(cluster.Memory, 5*gi)).plan("n", "small", "a", "x1"), "insufficient memory"},
		{"memory of the smallest listed type", newFixture().pod("x1", needs(cluster.Memory, 5*gi)).planAny("n", []string{"small", "large"}, []string{"a"}, []string{"on-demand"}, "x1"), "insufficient memory"},
		{"extended resource", newFixture().with(gpu).pod("x1", needs("nvidia.com/gpu", 1)).plan("n", "small", "a", "x1"), ""},
		{"extended resource twice", newFixture().with(gpu).pod("x1", needs("nvidia.com/gpu", 1)).pod("x2", needs("nvidia.com/gpu", 1)).plan("n", "small", "a", "x1", "x2"), "insufficient nvidia.com/gpu"},
		{"extended resource that is not there", newFixture().pod("x1", needs("nvidia.com/gpu", 1)).plan("n", "small", "a", "x1"), "insufficient nvidia.com/gpu"},
		{"pods", manyPods(11), "too many pods"},
		{"as many pods as go", manyPods(10), ""},

		{"taint", newFixture().pool(tainted).pod("x1").plan("n", "small", "a", "x1"), "does not tolerate dedicated"},
		{"taint tolerated", newFixture().pool(tainted).pod("x1", tolerating("dedicated")).plan("n", "small", "a", "x1"), ""},
		{"taint of another value", newFixture().pool(tainted).pod("x1", func(p *cluster.Pod) {
			p.Tolerations = []corev1.Toleration{{Key: "dedicated", Value: "y"}}
		}).plan("n", "small", "a", "x1"), "does not tolerate dedicated"},
		{"taint of another effect", newFixture().pool(tainted).pod("x1", func(p *cluster.Pod) {
			p.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}}
		}).plan("n", "small", "a", "x1"), "does not tolerate dedicated"},
		{"startup taint", newFixture().pool(func(p *cluster.NodePool) {
			p.StartupTaints = []corev1.Taint{{Key: "cni", Effect: corev1.TaintEffectNoExecute}}
		}).pod("x1").plan("n", "small", "a", "x1"), ""},

		{"selector", newFixture().pod("x1", selecting(cluster.LabelArch, "arm64")).plan("n", "arm", "a", "x1"), ""},
		{"selector of one listed type", newFixture().pod("x1", selecting(cluster.LabelArch, "arm64")).planAny("n", []string{"small", "arm"}, []string{"a"}, []string{"on-demand"}, "x1"), "node selector"},
		{"selector of one listed zone", newFixture().pod("x1", selecting(zone, "a")).planAny("n", []string{"small"}, []string{"a", "b"}, []string{"on-demand"}, "x1"), "node selector"},
		{"selector of one listed capacity type", newFixture().pod("x1", selecting(cluster.LabelCapacityType, "on-demand")).planAny("n", []string{"small"}, []string{"a"}, []string{"on-demand", "spot"}, "x1"), "node selector"},
		{"selector by an old name", newFixture().pod("x1", selecting("beta.kubernetes.io/arch", "arm64")).plan("n", "arm", "a", "x1"), ""},
		{"OR of terms taken crosswise", newFixture().pod("x1", wanting(
			append(req(zone, "In", "a"), req(cluster.LabelArch, "In", "amd64")...),
			append(req(zone, "In", "b"), req(cluster.LabelArch, "In", "arm64")...))).
			planAny("n", []string{"small", "arm"}, []string{"a", "b"}, []string{"on-demand"}, "x1"), "required node affinity"},
		{"Gt", newFixture().pod("x1", wanting(req("karpenter.k8s.aws/instance-cpu", "Gt", "2"))).plan("n", "small", "a", "x1"), "required node affinity"},
		{"Lt", newFixture().pod("x1", wanting(req("karpenter.k8s.aws/instance-cpu", "Lt", "3"))).plan("n", "small", "a", "x1"), ""},
		{"NotIn", newFixture().pod("x1", wanting(req(zone, "NotIn", "a"))).plan("n", "small", "a", "x1"), "required node affinity"},
		{"NotIn of what is absent", newFixture().pod("x1", wanting(req("team", "NotIn", "a"))).plan("n", "small", "a", "x1"), ""},
		{"Exists of what is absent", newFixture().pod("x1", wanting(req("team", "Exists"))).plan("n", "small", "a", "x1"), "required node affinity"},
		{"DoesNotExist", newFixture().pod("x1", wanting(req(zone, "DoesNotExist"))).plan("n", "small", "a", "x1"), "required node affinity"},
		{"empty term", newFixture().pod("x1", wanting(nil)).plan("n", "small", "a", "x1"), "required node affinity"},
		{"label of the template", newFixture().pool(func(p *cluster.NodePool) { p.Labels = map[string]string{"team": "x"} }).pod("x1", selecting("team", "x")).plan("n", "small", "a", "x1"), ""},
		{"label given by the plan", newFixture().pool(custom).pod("x1", selecting("team", "x")).plan("n", "small", "a", "x1").with(labelNode("team", "x")), ""},

		{"host port", newFixture().pod("x1", port(80)).pod("x2", port(80)).plan("n", "small", "a", "x1", "x2"), "host port 80"},
		{"host ports of two protocols", newFixture().pod("x1", port(53)).pod("x2", port(53), func(p *cluster.Pod) { p.HostPorts[0].Protocol = "UDP" }).plan("n", "small", "a", "x1", "x2"), ""},
		{"host ports of two addresses", newFixture().pod("x1", port(80), address("10.0.0.1")).pod("x2", port(80), address("10.0.0.2")).plan("n", "small", "a", "x1", "x2"), ""},
		{"host port of a daemon", newFixture().with(daemon(port(80))).pod("x1", port(80)).plan("n", "small", "a", "x1").with(countDaemons), "host port 80"},

		{"daemon", newFixture().with(daemon()).pod("x1", needs(cluster.CPU, 1500)).plan("n", "small", "a", "x1").with(countDaemons), ""},
		{"daemon that is too much", newFixture().with(daemon()).pod("x1", needs(cluster.CPU, 1501)).plan("n", "small", "a", "x1").with(countDaemons), "insufficient cpu"},
		{"daemon of another architecture", newFixture().with(daemon(selecting(cluster.LabelArch, "arm64"))).pod("x1", needs(cluster.CPU, 2000)).plan("n", "small", "a", "x1"), ""},
		{"daemon of the other listed type", newFixture().with(daemon(selecting(cluster.LabelArch, "arm64"))).pod("x1", needs(cluster.CPU, 2000)).planAny("n", []string{"small", "arm"}, []string{"a"}, []string{"on-demand"}, "x1"), "insufficient cpu"},
		{"daemon that does not tolerate", newFixture().with(daemon()).pool(tainted).pod("x1", needs(cluster.CPU, 2000), tolerating("dedicated")).plan("n", "small", "a", "x1"), ""},
	})
}

func manyPods(n int) *fixture {
	f := newFixture()
	var names []string
	for i := range n {
		names = append(names, "x"+string(rune('a'+i)))
		f.pod(names[i], needs(cluster.CPU, 10), needs(cluster.Memory, 1))
	}
	return f.plan("n", "small", "a", names...)
}

func custom(p *cluster.NodePool) {
	p.Requirements = append(p.Requirements, cluster.Requirement{Key: "team", Operator: cluster.In, Values: []string{"x", "y"}})
}

func labelNode(k, v string) func(*fixture) {
	return func(f *fixture) {
		n := &f.report.NewNodes[len(f.report.NewNodes)-1]
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}
		n.Labels[k] = v
	}
}

func address(ip string) func(*cluster.Pod) {
	return func(p *cluster.Pod) { p.HostPorts[0].IP = ip }
}

// daemon adds a DaemonSet of 500m.
func daemon(change ...func(*cluster.Pod)) func(*fixture) {
	return func(f *fixture) {
		d := cluster.DaemonSet{Namespace: "kube-system", Name: "d", Template: cluster.Pod{Labels: map[string]string{"app": "d"}, Requests: cluster.ResourcesOf(map[string]int64{cluster.CPU: 500})}}
		for _, c := range change {
			c(&d.Template)
		}
		f.snap.DaemonSets = append(f.snap.DaemonSets, d)
	}
}

// countDaemons adds the daemons to what the report says of its last node.
func countDaemons(f *fixture) {
	n := &f.report.NewNodes[len(f.report.NewNodes)-1]
	for _, d := range f.snap.DaemonSets {
		n.Daemons = n.Daemons.Add(d.Template.Requests)
		n.Requests = n.Requests.Add(d.Template.Requests)
	}
}

func TestStandingNodes(t *testing.T) {
	taint := func(key string) func(*cluster.Node) {
		return func(n *cluster.Node) {
			n.Taints = append(n.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
		}
	}
	starting := func(n *cluster.Node) { n.Labels[cluster.LabelNodePool] = "default"; n.Ready = false }
	leaving := func(n *cluster.Node) { n.Deleting = true }
	claim := func(f *fixture) {
		f.snap.Claims = append(f.snap.Claims, cluster.NodeClaim{Name: "c", NodePool: "default", Labels: map[string]string{zone: "a", cluster.LabelInstanceType: "small", cluster.LabelCapacityType: "spot"}, Allocatable: f.types[0].Allocatable})
	}
	run(t, []one{
		{"room", newFixture().stand("s", "a").pod("x1").use("s", "x1"), ""},
		{"no room beside what runs", newFixture().stand("s", "a").pod("y1", on("s"), needs(cluster.CPU, 1600)).pod("x1").use("s", "x1"), "insufficient cpu"},
		{"pods that have ended leave room", newFixture().stand("s", "a").pod("y1", on("s"), needs(cluster.CPU, 1600), func(p *cluster.Pod) { p.Phase = corev1.PodSucceeded }).pod("x1").use("s", "x1"), ""},
		{"cordoned", newFixture().stand("s", "a", func(n *cluster.Node) { n.Cordoned = true }).pod("x1").use("s", "x1"), "unschedulable"},
		{"not ready", newFixture().stand("s", "a", func(n *cluster.Node) { n.Ready = false }).pod("x1").use("s", "x1"), "not-ready"},
		{"tainted", newFixture().stand("s", "a", taint("t")).pod("x1").use("s", "x1"), "does not tolerate t"},
		{"ephemeral taint of a node that starts", newFixture().stand("s", "a", starting, taint("node.kubernetes.io/not-ready")).pod("x1").use("s", "x1"), ""},
		{"startup taint of a node that starts", newFixture().pool(func(p *cluster.NodePool) {
			p.StartupTaints = []corev1.Taint{{Key: "cni", Effect: corev1.TaintEffectNoSchedule}}
		}).stand("s", "a", starting, taint("cni")).pod("x1").use("s", "x1"), ""},
		{"other taint of a node that starts", newFixture().stand("s", "a", starting, taint("t")).pod("x1").use("s", "x1"), "does not tolerate t"},
		{"daemon still to come", newFixture().with(daemon()).stand("s", "a").pod("x1", needs(cluster.CPU, 1600)).use("s", "x1"), "insufficient cpu"},
		{"daemon that runs", newFixture().with(daemon()).stand("s", "a").pod("d1", on("s"), needs(cluster.CPU, 500), func(p *cluster.Pod) {
			p.Namespace, p.Owner = "kube-system", cluster.Owner{Kind: "DaemonSet", Name: "d"}
		}).pod("x1", needs(cluster.CPU, 1500)).use("s", "x1"), ""},
		{"claim in flight", newFixture().with(claim).pod("x1", selecting(zone, "a")).use("c", "x1").with(func(f *fixture) { f.report.ExistingNodes[0].InFlight = true }), ""},
		{"claim in another zone", newFixture().with(claim).pod("x1", selecting(zone, "b")).use("c", "x1").with(func(f *fixture) { f.report.ExistingNodes[0].InFlight = true }), "node selector"},
		{"claim said to stand", newFixture().with(claim).pod("x1").use("c", "x1"), "in flight is false"},
		{"pods of a node that leaves", newFixture().stand("s", "a", leaving).pod("x1", on("s")).plan("n", "small", "a", "x1"), ""},
		{"pods of a node that leaves are forgotten", newFixture().stand("s", "a", leaving).pod("x1", on("s")), "is not in the report"},
		{"a node that leaves takes none", newFixture().stand("s", "a", leaving).pod("x1").use("s", "x1"), "does not stand"},
		{"a node that is not there", newFixture().pod("x1").use("s", "x1"), "does not stand"},
	})
}
