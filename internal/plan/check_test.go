package plan

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

func TestCheckAcceptsWhatIsRight(t *testing.T) {
	if err := Check(newFixture().input()); err != nil {
		t.Error(err)
	}
	empty := CheckInput{Snapshot: &cluster.Snapshot{}, Proposal: &Proposal{}, Types: func(*cluster.NodeClass) []cluster.InstanceType { return nil }}
	if err := Check(empty); err != nil {
		t.Errorf("an empty plan for an empty cluster: %v", err)
	}
}

func TestCheckReportsTheFirstAndCountsTheRest(t *testing.T) {
	f := newFixture()
	for i := range 30 {
		f.snap.Pods = append(f.snap.Pods, pod(fmt.Sprintf("forgotten-%02d", i)))
	}
	err := Check(f.input())
	if got := violationsOf(t, err); len(got) != MostViolations || got[0].Pod != "ns/forgotten-00" {
		t.Errorf("%d violations, the first %v", len(got), got)
	}
	if !strings.HasSuffix(err.Error(), "\nand 10 more") {
		t.Errorf("the rest is not counted: %v", err)
	}
	if again := Check(f.input()); again.Error() != err.Error() {
		t.Errorf("checked twice, two answers:\n%v\n%v", err, again)
	}
}

func TestViolationNamesItsPlace(t *testing.T) {
	for want, v := range map[string]Violation{
		"node n: pod ns/p: taints: d": {RuleTaints, "n", "ns/p", "d"},
		"pod ns/p: placement: d":      {RulePlacement, "", "ns/p", "d"},
		"limits: d":                   {RuleLimits, "", "", "d"},
	} {
		if got := v.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCheckRecords(t *testing.T) {
	after := func(spoil func(*Proposal)) func(*fixture) { return func(f *fixture) { f.spoil = spoil } }
	claim := func(change func(*cluster.NodeClaim)) func(*fixture) {
		return after(func(p *Proposal) { change(&p.Writes[0].Claim) })
	}
	runSpoiled(t, []spoiled{
		{"no claim", after(func(p *Proposal) { p.Writes, p.Needs = nil, nil }), RuleRecords, "new", ""},
		{"no precondition", after(func(p *Proposal) { p.Needs = nil }), RuleRecords, "new", ""},
		{"claim may exist", after(func(p *Proposal) { p.Needs[0].Gen = 3 }), RuleRecords, "new", ""},
		{"needed twice", after(func(p *Proposal) { p.Needs = append(p.Needs, Precondition{"x", 1}, Precondition{"x", 2}) }), RuleRecords, "", ""},
		{"needs more", after(func(p *Proposal) { p.Needs = append(p.Needs, Precondition{"ledger/provisioning", 7}) }), "", "", ""},
		{"claim for nobody", after(func(p *Proposal) {
			p.Needs = append(p.Needs, Precondition{Key: "claim/stray"})
			p.Writes = append(p.Writes, Write{Key: "claim/stray", Claim: cluster.NodeClaim{Name: "stray"}})
		}), RuleRecords, "stray", ""},
		{"written twice", after(func(p *Proposal) { p.Writes = append(p.Writes, p.Writes[0]) }), RuleRecords, "new", ""},
		{"claim of another pool", claim(func(m *cluster.NodeClaim) { m.NodePool = "other" }), RuleRecords, "new", ""},
		{"claim with other requirements", claim(func(m *cluster.NodeClaim) { m.Requirements = m.Requirements[:2] }), RuleRecords, "new", ""},
		{"claim with other labels", claim(func(m *cluster.NodeClaim) { m.Labels = nil }), RuleRecords, "new", ""},
		{"claim with other requests", claim(func(m *cluster.NodeClaim) { m.Requests = nil }), RuleRecords, "new", ""},
		{"claim with other room", claim(func(m *cluster.NodeClaim) { m.Allocatable = nil }), RuleRecords, "new", ""},
		{"claim with other capacity", claim(func(m *cluster.NodeClaim) { m.Capacity = nil }), RuleRecords, "new", ""},
		{"claim with other taints", claim(func(m *cluster.NodeClaim) {
			m.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
		}), RuleRecords, "new", ""},
		{"claim that lives longer", claim(func(m *cluster.NodeClaim) { m.ExpireAfter.Duration = time.Hour }), RuleRecords, "new", ""},
		{"claim of another class", after(func(p *Proposal) {
			p.Report.NewNodes[0].NodeClass.Name, p.Writes[0].Claim.NodeClass.Name = "other", "other"
		}), RuleRecords, "new", ""},
		{"requirements that allow more", after(func(p *Proposal) {
			r := []cluster.Requirement{{Key: cluster.LabelZone, Operator: cluster.In, Values: []string{zoneA, "us-east-1f"}}}
			r = append(r, p.Report.NewNodes[0].Requirements[0], p.Report.NewNodes[0].Requirements[2])
			p.Report.NewNodes[0].Requirements, p.Writes[0].Claim.Requirements = r, r
		}), RuleRecords, "new", ""},
		{"label against a requirement", after(func(p *Proposal) {
			r := append(p.Report.NewNodes[0].Requirements, cluster.Requirement{Key: teamKey, Operator: cluster.In, Values: []string{"blue"}})
			p.Report.NewNodes[0].Requirements, p.Writes[0].Claim.Requirements = r, r
		}), RuleRecords, "new", ""},
		{"label that not every choice has", func(f *fixture) { f.nodes[0].Labels[cluster.LabelInstanceType] = "m.large" }, RuleRecords, "new", ""},
		{"name is taken", func(f *fixture) { f.nodes[0].Name = "standing" }, RuleRecords, "standing", ""},
		{"in flight is not said", func(f *fixture) { f.existing[1].InFlight = false }, RuleRecords, "flying", ""},
		{"node twice", func(f *fixture) {
			f.snap.Pods = append(f.snap.Pods, pod("more"))
			f.existing = append(f.existing, ExistingNode{Name: "standing", Pods: placed("more")})
		}, RuleRecords, "standing", ""},
		{"node without pods in the report", func(f *fixture) {
			f.snap.Nodes = append(f.snap.Nodes, cluster.Node{Name: "idle", Ready: true})
			f.existing = append(f.existing, ExistingNode{Name: "idle"})
		}, RuleRecords, "idle", ""},
		{"summary of pods", after(func(p *Proposal) { p.Report.Summary.Scheduled-- }), RuleSums, "", ""},
		{"summary of nodes", after(func(p *Proposal) { p.Report.Summary.NewNodes++ }), RuleSums, "", ""},
		{"summary of prices", after(func(p *Proposal) { p.Report.Summary.PricePerHour *= 2 }), RuleSums, "", ""},
		{"requests do not add up", after(func(p *Proposal) {
			r := p.Report.NewNodes[0].Requests.With(cluster.CPU, 1)
			p.Report.NewNodes[0].Requests, p.Writes[0].Claim.Requests = r, r
		}), RuleSums, "new", ""},
		{"room of another type", func(f *fixture) { f.nodes[0].Allocatable = f.types[1].Allocatable }, RuleSums, "new", ""},
		{"daemons forgotten", func(f *fixture) { f.daemon("agent", nil) }, RuleSums, "new", ""},
	})
}

// daemon adds a DaemonSet of 100m.
func (f *fixture) daemon(name string, change func(*cluster.Pod)) {
	d := cluster.DaemonSet{Namespace: "ns", Name: name, Template: cluster.Pod{Namespace: "ns", Labels: map[string]string{"daemon": name},
		Requests: cluster.ResourcesOf(map[string]int64{cluster.CPU: 100})}}
	if change != nil {
		change(&d.Template)
	}
	f.snap.DaemonSets = append(f.snap.DaemonSets, d)
}

func TestCheckAccounts(t *testing.T) {
	runSpoiled(t, []spoiled{
		{"pod forgotten", func(f *fixture) { f.snap.Pods = append(f.snap.Pods, pod("forgotten")) }, RulePlacement, "", "ns/forgotten"},
		{"virtual pod forgotten", func(f *fixture) {
			p := pod("headroom")
			p.Virtual, p.Unschedulable = true, false
			f.snap.Pods = append(f.snap.Pods, p)
		}, RulePlacement, "", "ns/headroom"},
		{"pod that opts out", func(f *fixture) {
			p := pod("elsewhere")
			p.Affinity = nodeAffinity(corev1.NodeSelectorRequirement{Key: cluster.LabelNodePool, Operator: corev1.NodeSelectorOpDoesNotExist})
			f.snap.Pods = append(f.snap.Pods, p)
		}, "", "", ""},
		{"pod that does not wait", func(f *fixture) {
			p := pod("gated")
			p.Gated = true
			f.snap.Pods = append(f.snap.Pods, p)
		}, "", "", ""},
		{"placed twice", func(f *fixture) {
			f.nodes = append(f.nodes, f.node("second", []string{zoneA}, "one"))
		}, RulePlacement, "second", "ns/one"},
		{"placed and left out", func(f *fixture) { f.left = append(f.left, LeftOut{"ns/one", []string{"?"}}) }, RulePlacement, "new", "ns/one"},
		{"left out twice", func(f *fixture) { f.left = append(f.left, f.left[0]) }, RulePlacement, "", "ns/left"},
		{"left out without a reason", func(f *fixture) { f.left[0].Reasons = nil }, RulePlacement, "", "ns/left"},
		{"left out and not there", func(f *fixture) { f.left = append(f.left, LeftOut{"ns/ghost", []string{"?"}}) }, RulePlacement, "", "ns/ghost"},
		{"placed and not there", func(f *fixture) { f.nodes[0].Pods = append(f.nodes[0].Pods, placed("ghost")...) }, RulePlacement, "new", "ns/ghost"},
		{"placed and running", func(f *fixture) { f.existing[1].Pods = append(f.existing[1].Pods, placed("old")...) }, RulePlacement, "flying", "ns/old"},
		{"placed and nominated", func(f *fixture) { f.pod("onto-flying").NominatedNodeName = "standing" }, RulePlacement, "flying", "ns/onto-flying"},
		{"placed with problems", func(f *fixture) { f.pod("one").Problems = []string{"its claim is not there"} }, RulePlacement, "new", "ns/one"},
		{"node that is not there", func(f *fixture) { f.snap.Claims = nil }, RulePlacement, "flying", ""},
		{"new node without pods", func(f *fixture) { f.nodes = append(f.nodes, f.node("idle", []string{zoneA})) }, RulePlacement, "idle", ""},
		{"node that goes away", func(f *fixture) {
			f.snap.Nodes = append(f.snap.Nodes, cluster.Node{Name: "leaving", Ready: true, Deleting: true})
			f.snap.Pods = append(f.snap.Pods, running("mover", "leaving"))
		}, RulePlacement, "", "ns/mover"},
		{"node that is being disrupted takes none", func(f *fixture) {
			f.snap.Nodes = append(f.snap.Nodes, cluster.Node{Name: "leaving", Ready: true, Taints: []corev1.Taint{{Key: cluster.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule}}})
			f.snap.Pods = append(f.snap.Pods, running("mover", "leaving"))
			f.existing = append(f.existing, ExistingNode{Name: "leaving", Pods: placed("mover")})
		}, RulePlacement, "leaving", ""},
	})
}

func nodeAffinity(es ...corev1.NodeSelectorRequirement) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: es}}}}}
}
