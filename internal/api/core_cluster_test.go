package api

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

func TestNode(t *testing.T) {
	snap := mustReadCore(t, `
apiVersion: v1
kind: Node
metadata:
  name: node-1
  uid: u-1
  creationTimestamp: "2026-01-31T12:00:00Z"
  labels: {beta.kubernetes.io/arch: arm64, karpenter.sh/nodepool: default}
  annotations: {karpenter.sh/do-not-disrupt: "true", csi.volume.kubernetes.io/nodeid: "{}"}
spec:
  providerID: aws:///us-east-1a/i-1
  unschedulable: true
  taints: [{key: dedicated, value: db, effect: NoSchedule}]
status:
  capacity: {cpu: "2", memory: 4Gi, pods: "29", nvidia.com/gpu: "1"}
  allocatable: {cpu: 1930m, memory: 3388360Ki, pods: "29", nvidia.com/gpu: "1"}
  conditions: [{type: MemoryPressure, status: "False"}, {type: Ready, status: "True"}]
  images: [{names: [a], sizeBytes: 1}]
`, `
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: node-1}
spec:
  drivers:
  - {name: ebs.csi.aws.com, nodeID: i-1, topologyKeys: [topology.ebs.csi.aws.com/zone], allocatable: {count: 26}}
  - {name: efs.csi.aws.com, nodeID: i-1, topologyKeys: null}
`)
	want := []cluster.Node{{
		Name: "node-1", UID: "u-1", ProviderID: "aws:///us-east-1a/i-1",
		Labels:       map[string]string{"beta.kubernetes.io/arch": "arm64", cluster.LabelArch: "arm64", cluster.LabelNodePool: "default"},
		Annotations:  map[string]string{cluster.AnnotationDoNotDisrupt: "true"},
		Taints:       []corev1.Taint{{Key: "dedicated", Value: "db", Effect: corev1.TaintEffectNoSchedule}},
		Capacity:     cluster.ResourcesOf(map[string]int64{"cpu": 2000, "memory": 4 << 30, "pods": 29, "nvidia.com/gpu": 1}),
		Allocatable:  cluster.ResourcesOf(map[string]int64{"cpu": 1930, "memory": 3388360 << 10, "pods": 29, "nvidia.com/gpu": 1}),
		Ready:        true,
		Cordoned:     true,
		Created:      time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC),
		VolumeLimits: map[string]int64{"ebs.csi.aws.com": 26},
	}}
	if diff := cmp.Diff(want, snap.Nodes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNodeState(t *testing.T) {
	cases := []struct {
		name, status string
		ready        bool
	}{
		{"written by hand", "{capacity: {cpu: 1}}", true},
		{"not ready", `{conditions: [{type: Ready, status: "False"}]}`, false},
		{"unknown", `{conditions: [{type: Ready, status: Unknown}]}`, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			snap := mustReadCore(t, "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: "+c.status+"\n")
			if got := snap.Nodes[0].Ready; got != c.ready {
				t.Errorf("ready %v, want %v", got, c.ready)
			}
			if diff := cmp.Diff(snap.Nodes[0].Capacity, snap.Nodes[0].Allocatable); diff != "" {
				t.Errorf("allocatable is not the capacity:\n%s", diff)
			}
		})
	}
}

func TestNamespaces(t *testing.T) {
	snap := mustReadCore(t,
		"apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: a}}\nspec: {finalizers: [kubernetes]}\nstatus: {phase: Active}\n",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop}\nspec: {containers: [{name: c}]}\n",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: zoo}\nspec: {containers: [{name: c}]}\n",
		podYAML("p", oneContainer))
	want := []cluster.Namespace{
		{Name: "shop", Labels: map[string]string{"team": "a", "kubernetes.io/metadata.name": "shop"}},
		{Name: "default", Labels: map[string]string{"kubernetes.io/metadata.name": "default"}},
		{Name: "zoo", Labels: map[string]string{"kubernetes.io/metadata.name": "zoo"}},
	}
	if diff := cmp.Diff(want, snap.Namespaces); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPDBs(t *testing.T) {
	pods := []string{
		podYAML("a", oneContainer+"nodeName: node-1\n"), podYAML("b", oneContainer+"nodeName: node-1\n"),
		podYAML("c", oneContainer+"nodeName: node-1\n"), podYAML("d", oneContainer),
		podYAML("e", oneContainer) + "status: {phase: Succeeded}\n",
	}
	cases := []struct {
		name, spec, status string
		want               int32
	}{
		{"counted by a server", "minAvailable: 1", "{observedGeneration: 1, disruptionsAllowed: 2}", 2},
		{"minAvailable", "minAvailable: 2", "", 1},
		{"minAvailable that is not met", "minAvailable: 4", "", 0},
		{"minAvailable as a share", `minAvailable: "50%"`, "", 1},
		{"maxUnavailable", "maxUnavailable: 2", "", 1},
		{"maxUnavailable as a share, rounded up", `maxUnavailable: "30%"`, "", 1},
		{"neither", "{}", "", 3},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			doc := "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec:\n  selector: {matchLabels: {app: web}}\n"
			if c.spec != "{}" {
				doc += "  " + c.spec + "\n"
			}
			if c.status != "" {
				doc += "status: " + c.status + "\n"
			}
			snap := mustReadCore(t, append([]string{doc}, pods...)...)
			want := []cluster.PDB{{
				Namespace: "default", Name: "b", DisruptionsAllowed: c.want,
				Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			}}
			if diff := cmp.Diff(want, snap.PDBs); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPDBPolicy(t *testing.T) {
	snap := mustReadCore(t, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {unhealthyPodEvictionPolicy: AlwaysAllow}\n")
	if !snap.PDBs[0].UnhealthyAlways || snap.PDBs[0].Selector != nil {
		t.Errorf("got %+v", snap.PDBs[0])
	}
}

func TestClusterKindsRefused(t *testing.T) {
	cases := []struct{ name, doc, path, says string }{
		{"a node of negative capacity", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {capacity: {cpu: -1}}\n", "status.capacity.cpu", "is negative"},
		{"a taint without an effect", "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nspec: {taints: [{key: k}]}\n", "spec.taints[0].effect", "is not allowed"},
		{"a budget with both", "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {minAvailable: 1, maxUnavailable: 1}\n", "spec.maxUnavailable", "keep one"},
		{"a budget of no share", "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {minAvailable: half}\n", "spec.minAvailable", `"half" is not allowed`},
		{"a budget over the whole", "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b}\nspec: {minAvailable: \"150%\"}\n", "spec.minAvailable", "is not allowed"},
		{"a priority without a number", "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: b}\nvalue: high\n", "value", "whole number"},
		{"overhead of half a device", "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: b}\nhandler: h\noverhead: {podFixed: {a.b/c: 1m}}\n", `overhead.podFixed["a.b/c"]`, "cannot be divided"},
		{"a storage class without a provisioner", "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: b}\n", "provisioner", "names no provisioner"},
		{"an unknown binding mode", "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: b}\nprovisioner: p\nvolumeBindingMode: Later\n", "volumeBindingMode", `"Later" is not allowed`},
		{"a topology without values", "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: b}\nprovisioner: p\nallowedTopologies: [{matchLabelExpressions: [{key: z}]}]\n", "allowedTopologies[0].matchLabelExpressions[0].values", "at least one"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, rep := readCore(t, c.doc)
			if len(rep.errors) != 1 || rep.errors[0].Path != c.path || !strings.Contains(rep.errors[0].Message, c.says) {
				t.Errorf("errors %q, want %s: …%s…", messages(rep), c.path, c.says)
			}
		})
	}
}
