package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

func TestPriorities(t *testing.T) {
	class := func(name, value, more string) string {
		return "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: " + name + "}\nvalue: " + value + "\n" + more
	}
	type result struct {
		Priority int32
		Class    string
		Problems int
	}
	cases := []struct {
		name, spec string
		classes    []string
		want       result
	}{
		{"none", "", nil, result{0, "", 0}},
		{"stated", "priority: 9\npriorityClassName: high", []string{class("high", "100", "")}, result{9, "high", 0}},
		{"from a class", "priorityClassName: high", []string{class("high", "100", "")}, result{100, "high", 0}},
		{"from a class of the system", "priorityClassName: system-node-critical", nil, result{2000001000, "system-node-critical", 0}},
		{"from another", "priorityClassName: system-cluster-critical", nil, result{2000000000, "system-cluster-critical", 0}},
		{"from the default class", "", []string{class("low", "-5", "globalDefault: true")}, result{-5, "low", 0}},
		{"from the lowest default class", "", []string{class("b", "7", "globalDefault: true"), class("a", "8", "globalDefault: true")}, result{7, "b", 0}},
		{"from a class that is not there", "priorityClassName: gold", []string{class("high", "100", "")}, result{0, "gold", 1}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := onlyPod(t, mustReadCore(t, append(c.classes, podYAML("p", oneContainer+c.spec))...))
			if diff := cmp.Diff(c.want, result{p.Priority, p.PriorityClassName, len(p.Problems)}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

const kata = `
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata
overhead: {podFixed: {cpu: 250m, memory: 120Mi}}
scheduling:
  nodeSelector: {beta.kubernetes.io/arch: amd64, sandbox: "yes"}
  tolerations: [{key: sandbox, operator: Exists}]
`

func TestRuntimeClasses(t *testing.T) {
	const asks = "containers: [{name: c, resources: {requests: {cpu: 100m}}}]\nruntimeClassName: kata\n"
	tolerated := []corev1.Toleration{{Key: "sandbox", Operator: corev1.TolerationOpExists}}
	t.Run("written by hand", func(t *testing.T) {
		p := onlyPod(t, mustReadCore(t, podYAML("p", asks+"nodeSelector: {disk: ssd}\n"), kata))
		want := cluster.Pod{
			Requests:     cluster.ResourcesOf(map[string]int64{"cpu": 350, "memory": 120 * mi}),
			NodeSelector: map[string]string{"disk": "ssd", "sandbox": "yes", cluster.LabelArch: "amd64"},
			Tolerations:  tolerated,
		}
		got := cluster.Pod{Requests: p.Requests, NodeSelector: p.NodeSelector, Tolerations: p.Tolerations, Problems: p.Problems}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("overhead is set", func(t *testing.T) {
		p := onlyPod(t, mustReadCore(t, podYAML("p", asks+"overhead: {cpu: 1m}\n"), kata))
		if got := p.Requests.Get("cpu"); got != 101 {
			t.Errorf("cpu %d, want 101: the class counts once", got)
		}
	})
	t.Run("a toleration is not doubled", func(t *testing.T) {
		p := onlyPod(t, mustReadCore(t, podYAML("p", asks+"tolerations: [{key: sandbox, operator: Exists}]\n"), kata))
		if diff := cmp.Diff(tolerated, p.Tolerations); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("printed by a server", func(t *testing.T) {
		doc := "apiVersion: v1\nkind: Pod\nmetadata: {name: p, creationTimestamp: \"2026-01-31T12:00:00Z\"}\nspec:\n" + indent(asks, 2)
		p := onlyPod(t, mustReadCore(t, doc, kata))
		if len(p.NodeSelector)+len(p.Tolerations) > 0 {
			t.Errorf("admission is applied to a pod that has passed it: %v %v", p.NodeSelector, p.Tolerations)
		}
	})
	t.Run("at odds with the pod", func(t *testing.T) {
		p := onlyPod(t, mustReadCore(t, podYAML("p", asks+"nodeSelector: {sandbox: \"no\"}\n"), kata))
		if len(p.Problems) != 1 {
			t.Errorf("problems %q, want one", p.Problems)
		}
	})
}

func TestPodsOfOneOwnerShare(t *testing.T) {
	const spec = `
containers: [{name: c, resources: {requests: {cpu: 100m}}}]
nodeSelector: {disk: ssd}
tolerations: [{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 5}]
affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {}}]}}
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]
`
	owned := func(name, owner, spec string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name + "\n  labels: {app: web}\n  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: " + owner +
			", uid: u, controller: true}]\nspec:\n" + indent(spec, 2)
	}
	snap := mustReadCore(t, owned("a", "r", spec), owned("b", "r", spec), owned("c", "s", spec))
	a, b, c := &snap.Pods[0], &snap.Pods[1], &snap.Pods[2]
	if a.Affinity != b.Affinity || &a.Requests[0] != &b.Requests[0] || &a.Spread[0] != &b.Spread[0] || &a.Tolerations[0] != &b.Tolerations[0] {
		t.Errorf("pods of one ReplicaSet do not share what is equal")
	}
	if a.Affinity == c.Affinity {
		t.Errorf("pods of two ReplicaSets share")
	}
	if diff := cmp.Diff(a.Affinity, c.Affinity); diff != "" {
		t.Errorf("sharing changed something:\n%s", diff)
	}
}
