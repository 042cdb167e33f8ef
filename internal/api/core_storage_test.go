package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

func TestClaimsAndVolumes(t *testing.T) {
	snap := mustReadCore(t, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: bound
  namespace: shop
  annotations: {volume.kubernetes.io/selected-node: node-1, pv.kubernetes.io/bind-completed: "yes"}
spec: {storageClassName: gp3, volumeName: pv-1, accessModes: [ReadWriteOnce], resources: {requests: {storage: 8Gi}}}
status: {phase: Bound, capacity: {storage: 8Gi}}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: fresh}
spec: {accessModes: [ReadWriteMany]}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: old, deletionTimestamp: "2026-01-31T12:00:00Z", annotations: {volume.beta.kubernetes.io/storage-class: gp2}}
spec: {}
status: {phase: Lost}
`, `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: none}
spec: {storageClassName: ""}
`, `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-1}
spec:
  storageClassName: gp3
  capacity: {storage: 8Gi}
  csi: {driver: ebs.csi.aws.com, volumeHandle: vol-1}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.ebs.csi.aws.com/zone, operator: In, values: [us-east-1a]}]}]}}
status: {phase: Bound}
`, `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-2, labels: {failure-domain.beta.kubernetes.io/zone: us-east-1a__us-east-1b, failure-domain.beta.kubernetes.io/region: us-east-1}}
spec: {awsElasticBlockStore: {volumeID: vol-2}}
`, `
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-3}
spec: {nfs: {server: s, path: /}}
`)
	gp3, gp2, none := "gp3", "gp2", ""
	wantPVCs := []cluster.PVC{
		{Namespace: "shop", Name: "bound", StorageClass: &gp3, VolumeName: "pv-1", Phase: corev1.ClaimBound, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, SelectedNode: "node-1"},
		{Namespace: "default", Name: "fresh", Phase: corev1.ClaimPending, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}},
		{Namespace: "default", Name: "old", StorageClass: &gp2, Phase: corev1.ClaimLost, Deleting: true},
		{Namespace: "default", Name: "none", StorageClass: &none, Phase: corev1.ClaimPending},
	}
	if diff := cmp.Diff(wantPVCs, snap.PVCs); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	in := func(key string, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
	}
	term := func(e ...corev1.NodeSelectorRequirement) *corev1.NodeSelector {
		return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: e}}}
	}
	wantPVs := []cluster.PV{
		{Name: "pv-1", Driver: "ebs.csi.aws.com", StorageClass: "gp3", NodeAffinity: term(in(cluster.LabelZone, "us-east-1a"))},
		{Name: "pv-2", Driver: "ebs.csi.aws.com", NodeAffinity: term(in(cluster.LabelRegion, "us-east-1"), in(cluster.LabelZone, "us-east-1a", "us-east-1b"))},
		{Name: "pv-3"},
	}
	if diff := cmp.Diff(wantPVs, snap.PVs); diff != "" {
		t.Errorf("volumes (-want +got):\n%s", diff)
	}
}

func TestStorageClasses(t *testing.T) {
	snap := mustReadCore(t, `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: gp3, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: ebs.csi.aws.com
parameters: {type: gp3}
reclaimPolicy: Delete
allowVolumeExpansion: true
volumeBindingMode: WaitForFirstConsumer
allowedTopologies:
- matchLabelExpressions: [{key: topology.ebs.csi.aws.com/zone, values: [us-east-1a, us-east-1b]}]
`, `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: gp2}
provisioner: kubernetes.io/aws-ebs
`)
	want := []cluster.StorageClass{
		{Name: "gp3", Provisioner: "ebs.csi.aws.com", Default: true, WaitForConsumer: true, AllowedTopologies: []corev1.TopologySelectorTerm{
			{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: cluster.LabelZone, Values: []string{"us-east-1a", "us-east-1b"}}}},
		}},
		{Name: "gp2", Provisioner: "kubernetes.io/aws-ebs"},
	}
	if diff := cmp.Diff(want, snap.StorageClasses); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
