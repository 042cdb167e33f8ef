package api

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

const validClaim = `
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: default-x7k2p, labels: {karpenter.sh/nodepool: default}}
spec:
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
  requirements: [{key: karpenter.sh/nodepool, operator: In, values: [default]}]
`

func TestClaimRules(t *testing.T) {
	spec := func(fields string) string { return "spec: {" + fields + "}" }
	checkRules(t, validClaim, []ruleCase{
		{name: "valid"},
		{name: "no spec", patch: "spec: null", path: "spec", says: "is missing"},
		{name: "no class", patch: spec("nodeClassRef: null"), path: "spec.nodeClassRef", says: "is missing"},
		{name: "no requirements", patch: spec("requirements: null"), path: "spec.requirements", says: "is missing"},
		{name: "hostname", patch: spec("requirements: [{key: kubernetes.io/hostname, operator: Exists}]"), path: "spec.requirements[0].key", says: "may not be used"},
		{name: "minValues", patch: spec("requirements: [{key: a, operator: In, values: [b], minValues: 2}]"), path: "spec.requirements[0].minValues", says: "asks for 2"},
		{name: "taint", patch: spec("taints: [{key: a, effect: x}]"), path: "spec.taints[0].effect", says: "NoSchedule"},
		{name: "expiry", patch: spec("expireAfter: 1d"), path: "spec.expireAfter", says: `"24h"`},
		{name: "grace", patch: spec("terminationGracePeriod: Never"), path: "spec.terminationGracePeriod", says: "leave the field out"},
		{name: "requests", patch: spec("resources: {requests: {cpu: 100m, pods: 3}}")},
		{name: "bad requests", patch: spec("resources: {requests: {cpu: lots}}"), path: "spec.resources.requests.cpu", says: "is not a quantity"},
		{name: "older field", patch: spec("kubelet: {}"), path: "spec.kubelet", says: "EC2NodeClass"},
		{name: "unusable status", patch: "status: {capacity: {cpu: lots, memory: '-1'}, conditions: {}, nodeName: 5}"},
	})
}

func TestClaimConversion(t *testing.T) {
	r := Load([]Source{{Name: "c", Data: patched(t, validClaim, `
metadata: {uid: u, creationTimestamp: "2026-01-02T03:04:05Z", deletionTimestamp: "2026-01-02T04:04:05Z", annotations: {a: b}}
spec:
  expireAfter: 1h
  terminationGracePeriod: 2h
  taints: [{key: a, effect: NoSchedule}]
  startupTaints: [{key: b, effect: NoSchedule}]
  resources: {requests: {cpu: 100m, memory: 1Gi}}
status:
  providerID: aws:///a/i-1
  nodeName: ip-1
  imageID: ami-1
  capacity: {cpu: "4", memory: bad}
  allocatable: {cpu: 3920m}
  conditions:
  - {type: Launched, status: "True"}
  - {type: Registered, status: "True"}
  - {type: Initialized, status: "Unknown"}
`)}}, Options{})
	if len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	grace := 2 * time.Hour
	want := cluster.NodeClaim{
		Name: "default-x7k2p", UID: "u", NodePool: "default",
		NodeClass:    cluster.NodeClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
		Labels:       map[string]string{cluster.LabelNodePool: "default"},
		Annotations:  map[string]string{"a": "b"},
		Requirements: []cluster.Requirement{{Key: cluster.LabelNodePool, Operator: cluster.In, Values: []string{"default"}}},
		Taints:       []corev1.Taint{{Key: "a", Effect: "NoSchedule"}}, StartupTaints: []corev1.Taint{{Key: "b", Effect: "NoSchedule"}},
		ExpireAfter: cluster.Duration{Duration: time.Hour}, TerminationGracePeriod: &grace,
		Requests:   cluster.Resources{{Name: "cpu", Amount: 100}, {Name: "memory", Amount: 1 << 30}},
		ProviderID: "aws:///a/i-1", NodeName: "ip-1", ImageID: "ami-1",
		Capacity:    cluster.Resources{{Name: "cpu", Amount: 4000}},
		Allocatable: cluster.Resources{{Name: "cpu", Amount: 3920}},
		Created:     time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Deleting: true,
		Launched: true, Registered: true,
	}
	if diff := cmp.Diff(want, r.Snapshot.Claims[0]); diff != "" {
		t.Error(diff)
	}
}

// TestClaimPool: a claim is of the pool that its label names, or its owner.
func TestClaimPool(t *testing.T) {
	for _, c := range []struct{ patch, want string }{
		{"", "default"},
		{"metadata: {labels: null, ownerReferences: [{apiVersion: karpenter.sh/v1, kind: NodePool, name: owner, uid: u}]}", "owner"},
		{"metadata: {labels: null}", ""},
	} {
		r := Load([]Source{{Name: "c", Data: patched(t, validClaim, c.patch)}}, Options{})
		if len(r.Errors) > 0 || r.Snapshot.Claims[0].NodePool != c.want {
			t.Errorf("%s: want pool %q, have %v", c.patch, c.want, r)
		}
	}
}
