package provisioning_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
)

// mixed is a scene with something of everything.
func mixed() *scene {
	s := given(
		pool("default", startup("cni"), func(p *cluster.NodePool) {
			grace := 5 * time.Minute
			p.Taints = []corev1.Taint{{Key: "rather-not", Effect: corev1.TaintEffectPreferNoSchedule}}
			p.Labels, p.Annotations = map[string]string{"team": "x"}, map[string]string{"note": "y"}
			p.ExpireAfter, p.TerminationGracePeriod = cluster.Duration{Duration: time.Hour}, &grace
		}),
		node("n1"), claim("c1"), daemonSet("d", cpu(100)),
		pod("huge", cpu(90000)), pod("gated", func(p *cluster.Pod) { p.Gated = true }))
	for i := range 40 {
		s.put(pod("web-"+strconv.Itoa(i), cpu(600)))
	}
	return s
}

func TestSummary(t *testing.T) {
	r := decide(t, mixed()).Report
	price, estimate := 0.0, false
	var asked, room int64
	for i := range r.NewNodes {
		n := &r.NewNodes[i]
		price += n.PricePerHour
		estimate = estimate || n.Estimate
		asked += n.Requests.Get(cluster.CPU)
		room += n.Allocatable.Get(cluster.CPU)
	}
	got := r.Summary
	if math.Abs(got.PricePerHour-price) > 1e-9 || got.LowerBoundPerHour > price+1e-9 || got.LowerBoundPerHour <= 0 {
		t.Errorf("the price is %g and the bound %g, the nodes cost %g", got.PricePerHour, got.LowerBoundPerHour, price)
	}
	if want := float64(asked) / float64(room); math.Abs(got.CPUUtilization-want) > 1e-9 {
		t.Errorf("the utilisation is %g, want %g", got.CPUUtilization, want)
	}
	if got.Pods != 41 || got.Scheduled != 40 || got.NewNodes != len(r.NewNodes) || got.Estimates != estimate {
		t.Errorf("the summary is %+v for %d new nodes", got, len(r.NewNodes))
	}
}

func TestReportIsOrdered(t *testing.T) {
	s := mixed()
	s.put(pod("also-huge", cpu(90000)))
	s.put(node("n0"))
	r := decide(t, s).Report
	sorted := func(what string, names []string) {
		if !slices.IsSorted(names) {
			t.Errorf("the %s are not in order: %v", what, names)
		}
	}
	var existing, left []string
	for _, n := range r.ExistingNodes {
		existing = append(existing, n.Name)
	}
	for _, l := range r.Unschedulable {
		left = append(left, l.Pod)
	}
	sorted("existing nodes", existing)
	sorted("pods left out", left)
	for _, n := range r.NewNodes {
		var pods []string
		for _, p := range n.Pods {
			pods = append(pods, p.Pod)
		}
		sorted("pods of "+n.Name, pods)
	}
}

func TestExistingNodes(t *testing.T) {
	r := decide(t, mixed()).Report
	var got []string
	for _, n := range r.ExistingNodes {
		got = append(got, fmt.Sprintf("%s of %q in flight %v", n.Name, n.NodePool, n.InFlight))
	}
	if diff := cmp.Diff([]string{`c1 of "default" in flight true`, `n1 of "default" in flight false`}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r = decide(t, given(node("n1", unmanaged), pod("x"))).Report
	if len(r.ExistingNodes) != 1 || r.ExistingNodes[0].NodePool != "" {
		t.Errorf("an unmanaged node is reported as %+v", r.ExistingNodes)
	}
}

// TestClaims: one claim for each new node, which must not exist yet, and says all
// that a launch needs to know.
func TestClaims(t *testing.T) {
	s := mixed()
	prop := decide(t, s)
	np := &s.snap.NodePools[0]
	if len(prop.Writes) != len(prop.Report.NewNodes) || len(prop.Needs) != len(prop.Writes) || len(prop.Writes) == 0 {
		t.Fatalf("%d writes and %d needs for %d new nodes", len(prop.Writes), len(prop.Needs), len(prop.Report.NewNodes))
	}
	if prop.Trigger != "event" {
		t.Errorf("the trigger is %q", prop.Trigger)
	}
	seen := map[string]bool{}
	for i, w := range prop.Writes {
		n := &prop.Report.NewNodes[i]
		c := w.Claim
		if c.Name != n.Name || seen[c.Name] || !strings.HasPrefix(c.Name, "default-") {
			t.Errorf("claim %d is %q, node %q", i, c.Name, n.Name)
		}
		seen[c.Name] = true
		if need := (plan.Precondition{Key: plan.Key("claim/" + c.Name)}); prop.Needs[i] != need || w.Key != need.Key {
			t.Errorf("%s needs %+v and writes %q", c.Name, prop.Needs[i], w.Key)
		}
		want := cluster.NodeClaim{
			Name: n.Name, NodePool: "default", NodeClass: np.NodeClass, Labels: n.Labels, Annotations: c.Annotations, Requirements: n.Requirements, Taints: np.Taints, StartupTaints: np.StartupTaints,
			ExpireAfter: np.ExpireAfter, TerminationGracePeriod: np.TerminationGracePeriod, Requests: n.Requests, Capacity: c.Capacity, Allocatable: n.Allocatable, Created: now,
		}
		if diff := cmp.Diff(want, c); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.Name, diff)
		}
		if c.Labels["team"] != "x" || c.Labels[cluster.LabelNodePool] != "default" || c.Annotations["note"] != "y" {
			t.Errorf("%s has the labels %v and the annotations %v", c.Name, c.Labels, c.Annotations)
		}
	}
}

// TestClaimCarriesThePoolsHash, by which drift is seen later.
func TestClaimCarriesThePoolsHash(t *testing.T) {
	prop := decide(t, given(pod("x")))
	if got := prop.Writes[0].Claim.Annotations["karpenter.sh/nodepool-hash"]; got != "hash-of-default" {
		t.Errorf("the claim's annotation karpenter.sh/nodepool-hash is %q", got)
	}
}

// TestClaimRequirements: what may be launched, in the words of the API.
func TestClaimRequirements(t *testing.T) {
	prop := decide(t, given(pod("x", selects(zone, "b"))))
	n := prop.Report.NewNodes[0]
	if diff := cmp.Diff([]string{"small", "medium", "large"}, n.InstanceTypes); diff != "" {
		t.Errorf("the types, cheapest first (-want +got):\n%s", diff)
	}
	got := map[string][]string{}
	for _, r := range n.Requirements {
		if r.Operator != cluster.In {
			t.Errorf("%s %s %v", r.Key, r.Operator, r.Values)
		}
		got[r.Key] = slices.Sorted(slices.Values(r.Values))
	}
	want := map[string][]string{
		zone: {"b"}, cluster.LabelInstanceType: {"large", "medium", "small"}, cluster.LabelCapacityType: n.CapacityTypes,
		cluster.LabelNodePool: {"default"}, cluster.LabelNodeClass: {"class"}, cluster.LabelArch: {"amd64"},
	}
	slices.Sort(want[cluster.LabelCapacityType])
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the requirements (-want +got):\n%s", diff)
	}
}

// TestManyTypes: a request carries 60 types and no more, the cheapest.
func TestManyTypes(t *testing.T) {
	var types []cluster.InstanceType
	for i := range 100 {
		types = append(types, machine(fmt.Sprintf("t%02d", i), 2, 8, 1+float64(i)/100))
	}
	n := decide(t, given(classTypes{"class", types}, pod("x", selects(cluster.LabelCapacityType, cluster.Spot)))).Report.NewNodes[0]
	if len(n.InstanceTypes) != 60 || n.InstanceTypes[0] != "t00" || n.InstanceTypes[59] != "t59" {
		t.Errorf("%d types: %v", len(n.InstanceTypes), n.InstanceTypes)
	}
}

// TestNodesAreDescribed: requests are the pods' and the daemons'.
func TestNodesAreDescribed(t *testing.T) {
	n := decide(t, given(daemonSet("d", cpu(100)), pod("x"), pod("y", asks("example.com/dev", 0)))).Report.NewNodes[0]
	type numbers struct{ CPU, Memory, Pods, DaemonCPU, DaemonPods int64 }
	got := numbers{n.Requests.Get(cluster.CPU), n.Requests.Get(cluster.Memory), n.Requests.Get(cluster.Pods), n.Daemons.Get(cluster.CPU), n.Daemons.Get(cluster.Pods)}
	if diff := cmp.Diff(numbers{1100, 3 * gib, 3, 100, 1}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n.Estimate != (n.CapacityType == cluster.Spot) {
		t.Errorf("the price of %s is called an estimate: %v", n.CapacityType, n.Estimate)
	}
}
