package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

const flatInput = `{
  "instanceTypes": [{"name": "m5.large"}],
  "pods": [{"metadata": {"name": "p", "namespace": "a"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}],
  "nodePools": [{"metadata": {"name": "default"}, "spec": {"template": {"spec": {
    "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}, "requirements": []}}}}],
  "daemonSets": null,
  "nodes": [
    {"name": "n1", "instanceType": "m5.large", "zone": "z", "capacityType": "spot", "nodePool": "default",
     "labels": {"team": "a", "kubernetes.io/hostname": "host"}, "taints": [{"key": "a", "effect": "NoSchedule"}]},
    {"name": "n2"},
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n3"}}],
  "pvcs": [{"metadata": {"name": "c", "namespace": "a"}, "spec": {}}],
  "pvs": [{"metadata": {"name": "v"}, "spec": {}}],
  "storageClasses": [{"metadata": {"name": "s"}, "provisioner": "ebs.csi.aws.com"}],
  "pdbs": [{"metadata": {"name": "b", "namespace": "a"}, "spec": {"selector": {}}}],
  "namespaces": [{"metadata": {"name": "a"}}]
}`

func TestFlat(t *testing.T) {
	r := Load([]Source{{Name: "w.json", Data: []byte(flatInput)}}, Options{})
	if len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	s := &r.Snapshot
	if string(r.InstanceTypes) != `[{"name": "m5.large"}]` {
		t.Errorf("have the instance types %s", r.InstanceTypes)
	}
	if len(s.Pods) != 1 || s.Pods[0].Key() != "a/p" || len(s.NodePools) != 1 || len(s.PVCs) != 1 || len(s.PVs) != 1 || len(s.StorageClasses) != 1 || len(s.PDBs) != 1 {
		t.Errorf("have %+v", s)
	}
	want := []cluster.Node{
		{Name: "n1", Ready: true, Taints: []corev1.Taint{{Key: "a", Effect: "NoSchedule"}}, Labels: map[string]string{
			cluster.LabelHostname: "host", cluster.LabelInstanceType: "m5.large", cluster.LabelZone: "z", cluster.LabelCapacityType: "spot",
			cluster.LabelNodePool: "default", cluster.LabelRegistered: "true", cluster.LabelInitialized: "true", "team": "a"}},
		{Name: "n2", Ready: true, Labels: map[string]string{cluster.LabelHostname: "n2"}},
	}
	if diff := cmp.Diff(want, s.Nodes[:2]); diff != "" {
		t.Error(diff)
	}
	if len(s.Nodes) != 3 || s.Nodes[2].Name != "n3" {
		t.Errorf("the Node of the API was not read: %v", s.Nodes)
	}
}

func TestFlatMistakes(t *testing.T) {
	for _, c := range []struct{ text, path, says string }{
		{`{"pods": [], "nodepools": []}`, "nodepools", `did you mean "nodePools"?`},
		{`{"pods": {}}`, "pods", "must be a list, not an object"},
		{`{"pods": [], "pods": []}`, "pods", "stands here twice"},
		{`{"pods": [5]}`, "", "is a number"},
		{`{"pods": [{"metadata": {"name": "p"}, "spec": {"containres": []}}]}`, "spec.containres", `did you mean "containers"?`},
		{`{"nodes": [{"instanceType": "m5.large"}]}`, "name", "is missing"},
		{`{"nodes": [{"name": "n", "instancetype": "m5.large"}]}`, "instancetype", `did you mean "instanceType"?`},
		{`{"nodes": [{"name": "n"}, {"name": "n", "zone": "a"}]}`, "metadata.name", "the same object stands in"},
		{`{"instanceTypes": [1], "pods": []} {"instanceTypes": [2]}`, "instanceTypes", "differs from the first"},
	} {
		r := Load([]Source{{Name: "w", Data: []byte(c.text)}}, Options{})
		if len(r.Errors) == 0 || r.Errors[0].Path != c.path || !strings.Contains(r.Errors[0].Message, c.says) {
			t.Errorf("%s: want an error at %q that says %q, have %v", c.text, c.path, c.says, r.Errors)
		}
	}
}

// TestOldKinds: older versions are refused with the fields that have changed.
func TestOldKinds(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string // paths
	}{
		{"apiVersion: karpenter.sh/v1beta1\nkind: NodePool\nmetadata: {name: a}\nspec: {weight: 1}", []string{"apiVersion"}},
		{"apiVersion: karpenter.sh/v1beta1\nkind: NodeClaim\nmetadata: {name: a}\nspec: {kubelet: {}, nodeClassRef: {apiVersion: x}}", []string{"apiVersion", "spec.nodeClassRef.apiVersion", "spec.kubelet"}},
		{"apiVersion: karpenter.k8s.aws/v1beta1\nkind: EC2NodeClass\nmetadata: {name: a}\nspec: {amiFamily: AL2}", []string{"apiVersion", "spec.amiFamily"}},
		{"apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\nmetadata: {name: a}\nspec: {providerRef: {name: a}, limits: {resources: {cpu: 1}}, ttlSecondsAfterEmpty: 30, consolidation: {enabled: true}}",
			[]string{"apiVersion", "spec.providerRef", "spec.limits.resources", "spec.ttlSecondsAfterEmpty", "spec.consolidation"}},
		{"apiVersion: karpenter.sh/v1alpha5\nkind: Machine\nmetadata: {name: a}\nspec: {kubelet: {}}", []string{"apiVersion", "spec.kubelet"}},
		{"apiVersion: karpenter.k8s.aws/v1alpha1\nkind: AWSNodeTemplate\nmetadata: {name: a}\nspec: {subnetSelector: {a: b}, securityGroupSelector: {a: b}}", []string{"apiVersion", "spec.subnetSelector", "spec.securityGroupSelector"}},
		{"apiVersion: karpenter.sh/v1\nkind: Provisioner\nmetadata: {name: a}", []string{"kind"}},
		{"apiVersion: karpenter.sh/v1alpha1\nkind: NodePool\nmetadata: {name: a}", []string{"apiVersion"}},
		{"apiVersion: karpenter.sh/v1\nkind: EC2NodeClass\nmetadata: {name: a}", []string{"apiVersion"}},
	} {
		r := Load([]Source{{Name: "f", Data: []byte(c.text)}}, Options{})
		var got []string
		for _, e := range r.Errors {
			got = append(got, e.Path)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s\n%v\n%s", c.text, r.Errors, diff)
		}
	}
}
