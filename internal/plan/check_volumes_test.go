package plan

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// mount gives a pod claims, each bound to a volume of its own in a zone.
func (f *fixture) mount(pod, zoneLabel, zone string, claims ...string) {
	for _, name := range claims {
		f.pod(pod).Volumes = append(f.pod(pod).Volumes, cluster.Volume{Claim: name})
		f.snap.PVCs = append(f.snap.PVCs, cluster.PVC{Namespace: "ns", Name: name, VolumeName: "pv-" + name, Phase: corev1.ClaimBound})
		f.snap.PVs = append(f.snap.PVs, cluster.PV{Name: "pv-" + name, Driver: ebsDriver, NodeAffinity: nodeAffinity(
			corev1.NodeSelectorRequirement{Key: zoneLabel, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}).NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution})
	}
}

// classes adds a class that waits for the first pod, one that does not, and one
// of one zone.
func (f *fixture) classes() {
	f.snap.StorageClasses = []cluster.StorageClass{
		{Name: "late", Provisioner: ebsDriver, WaitForConsumer: true, Default: true},
		{Name: "at-once", Provisioner: ebsDriver},
		{Name: "zonal", Provisioner: inTreeEBS, WaitForConsumer: true, AllowedTopologies: []corev1.TopologySelectorTerm{{
			MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: cluster.LabelZone, Values: []string{zoneA}}}}}},
		{Name: "anywhere", Provisioner: ebsDriver, WaitForConsumer: true, AllowedTopologies: []corev1.TopologySelectorTerm{{}}},
	}
}

func TestCheckVolumes(t *testing.T) {
	unbound := func(pod string, class *string, modes ...corev1.PersistentVolumeAccessMode) func(*fixture) {
		return func(f *fixture) {
			f.classes()
			f.pod(pod).Volumes = []cluster.Volume{{Claim: "data"}}
			f.snap.PVCs = []cluster.PVC{{Namespace: "ns", Name: "data", StorageClass: class, AccessModes: modes}}
		}
	}
	class := func(name string) *string { return &name }
	ephemeral := func(pod string, classes ...string) func(*fixture) {
		return func(f *fixture) {
			f.classes()
			for _, c := range classes {
				f.pod(pod).Volumes = append(f.pod(pod).Volumes, cluster.Volume{Ephemeral: true, StorageClass: c})
			}
		}
	}
	runSpoiled(t, []spoiled{
		{"volume in one zone of three", func(f *fixture) { f.mount("one", cluster.LabelZone, zoneB, "a") }, RuleVolumes, "new", "ns/one"},
		{"volume in the only zone", func(f *fixture) {
			f.nodes[0].Zones = []string{zoneA}
			f.mount("one", cluster.LabelZone, zoneA, "a")
			f.mount("two", ebsZone, zoneA, "b")
		}, "", "", ""},
		{"volume of the standing node's zone", func(f *fixture) { f.mount("onto-standing", ebsZone, zoneA, "a") }, "", "", ""},
		{"volume of another zone", func(f *fixture) { f.mount("onto-standing", ebsZone, zoneB, "a") }, RuleVolumes, "standing", "ns/onto-standing"},
		{"more than the smallest type attaches", func(f *fixture) {
			f.nodes[0].Zones = []string{zoneA}
			f.mount("one", cluster.LabelZone, zoneA, "a", "b")
			f.mount("two", cluster.LabelZone, zoneA, "c")
		}, RuleVolumes, "new", ""},
		{"two pods of one volume", func(f *fixture) {
			f.nodes[0].Zones = []string{zoneA}
			f.mount("one", cluster.LabelZone, zoneA, "a", "b")
			f.pod("two").Volumes = f.pod("one").Volumes
		}, "", "", ""},
		{"more than the standing node attaches", func(f *fixture) {
			f.mount("old", cluster.LabelZone, zoneA, "a", "b")
			f.mount("onto-standing", cluster.LabelZone, zoneA, "c")
		}, RuleVolumes, "standing", ""},
		{"more than the claim's type attaches", func(f *fixture) { f.mount("onto-flying", cluster.LabelZone, zoneB, "a", "b", "c") }, RuleVolumes, "flying", ""},
		{"volumes of a driver without a limit", func(f *fixture) {
			for range 5 {
				f.pod("one").Volumes = append(f.pod("one").Volumes, cluster.Volume{Driver: "efs.csi.aws.com"})
			}
		}, "", "", ""},
		{"ephemeral volumes", ephemeral("one", "", "late", "anywhere"), RuleVolumes, "new", ""},
		{"ephemeral volumes just enough", ephemeral("one", "", "late"), "", "", ""},
		{"ephemeral volume of one zone", ephemeral("one", "zonal"), RuleVolumes, "new", "ns/one"},
		{"in-tree volumes count with the driver's", ephemeral("onto-standing", "zonal", "late", "late"), RuleVolumes, "standing", ""},
		{"class that is not there", ephemeral("one", "none"), RuleVolumes, "new", "ns/one"},
		{"claim that is not there", func(f *fixture) { f.pod("one").Volumes = []cluster.Volume{{Claim: "none"}} }, RuleVolumes, "new", "ns/one"},
		{"unbound claim of the default class", unbound("one", nil), "", "", ""},
		{"unbound claim without a class", unbound("one", class("")), RuleVolumes, "new", "ns/one"},
		{"unbound claim that is bound at once", unbound("one", class("at-once")), RuleVolumes, "new", "ns/one"},
		{"claim that is lost", func(f *fixture) {
			unbound("one", nil)(f)
			f.snap.PVCs[0].Phase = corev1.ClaimLost
		}, RuleVolumes, "new", "ns/one"},
		{"volume that is not there", func(f *fixture) {
			f.mount("onto-standing", cluster.LabelZone, zoneA, "a")
			f.snap.PVs = nil
		}, RuleVolumes, "standing", "ns/onto-standing"},
		{"for one pod, placed twice", func(f *fixture) {
			unbound("one", nil, corev1.ReadWriteOncePod)(f)
			f.pod("two").Volumes = f.pod("one").Volumes
		}, RuleVolumes, "new", "ns/two"},
		{"for one pod, and one has it", func(f *fixture) {
			unbound("one", nil, corev1.ReadWriteOncePod)(f)
			f.pod("old").Volumes = f.pod("one").Volumes
		}, RuleVolumes, "", "ns/one"},
	})
}
