package agreement

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/test/naive"
)

// pod is a pod as the API server would hand it to the scheduler: selectors have
// their matchLabelKeys merged in, and keys go by their current names as the
// nodes of today have them.
func pod(p *cluster.Pod, node string) *corev1.Pod {
	out := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: types.UID(p.Namespace + "/" + p.Name), Labels: p.Labels},
		Spec: corev1.PodSpec{
			NodeName: node, NodeSelector: current(p.NodeSelector), Affinity: p.Affinity.DeepCopy(), Tolerations: p.Tolerations,
			Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: list(p.Requests.Map())}}},
		},
		Status: corev1.PodStatus{Phase: p.Phase},
	}
	if p.Deleting {
		out.DeletionTimestamp = &metav1.Time{}
	}
	for _, h := range p.HostPorts {
		out.Spec.Containers[0].Ports = append(out.Spec.Containers[0].Ports, corev1.ContainerPort{HostIP: h.IP, HostPort: h.Port, ContainerPort: h.Port, Protocol: h.Protocol})
	}
	for _, s := range p.Spread {
		s.LabelSelector = merged(s.LabelSelector, p.Labels, s.MatchLabelKeys, nil)
		out.Spec.TopologySpreadConstraints = append(out.Spec.TopologySpreadConstraints, s)
	}
	if a := out.Spec.Affinity; a != nil {
		if a.PodAffinity != nil {
			mergeTerms(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, p.Labels)
		}
		if a.PodAntiAffinity != nil {
			mergeTerms(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, p.Labels)
		}
	}
	for i, v := range p.Volumes {
		out.Spec.Volumes = append(out.Spec.Volumes, volume(i, v))
	}
	return out
}

func current(m map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		out[cluster.NormalLabel(k)] = v
	}
	return out
}

func mergeTerms(ts []corev1.PodAffinityTerm, own map[string]string) {
	for i := range ts {
		ts[i].LabelSelector = merged(ts[i].LabelSelector, own, ts[i].MatchLabelKeys, ts[i].MismatchLabelKeys)
	}
}

// merged does what the API server does with matchLabelKeys when it admits a pod.
func merged(s *metav1.LabelSelector, own map[string]string, match, mismatch []string) *metav1.LabelSelector {
	if s == nil {
		return nil
	}
	s = s.DeepCopy()
	add := func(keys []string, op metav1.LabelSelectorOperator) {
		for _, k := range keys {
			if v, ok := own[k]; ok {
				s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{Key: k, Operator: op, Values: []string{v}})
			}
		}
	}
	add(match, metav1.LabelSelectorOpIn)
	add(mismatch, metav1.LabelSelectorOpNotIn)
	return s
}

func volume(i int, v cluster.Volume) corev1.Volume {
	out := corev1.Volume{Name: fmt.Sprintf("v%d", i)}
	switch {
	case v.Driver != "":
		out.CSI = &corev1.CSIVolumeSource{Driver: v.Driver}
	case v.Ephemeral:
		out.Ephemeral = &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: claimSpec(&v.StorageClass)}}
	default:
		out.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.Claim}
	}
	return out
}

func claimSpec(class *string) corev1.PersistentVolumeClaimSpec {
	return corev1.PersistentVolumeClaimSpec{
		StorageClassName: class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}
}

// list turns amounts into quantities.
func list(amounts map[string]int64) corev1.ResourceList {
	out := corev1.ResourceList{}
	for k, v := range amounts {
		if k == cluster.CPU {
			out[corev1.ResourceName(k)] = *resource.NewMilliQuantity(v, resource.DecimalSI)
		} else {
			out[corev1.ResourceName(k)] = *resource.NewQuantity(v, resource.BinarySI)
		}
	}
	return out
}

func node(n naive.StagedNode) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels},
		Spec:       corev1.NodeSpec{Taints: n.Taints},
		Status:     corev1.NodeStatus{Capacity: list(n.Allocatable), Allocatable: list(n.Allocatable)},
	}
}

// surroundings are the objects beside nodes and pods that the plugins look up.
func surroundings(snap *cluster.Snapshot, stage *naive.Stage) []runtime.Object {
	var out []runtime.Object
	for _, n := range snap.Namespaces {
		out = append(out, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}})
	}
	fallback := ""
	for _, s := range snap.StorageClasses {
		mode := storagev1.VolumeBindingImmediate
		if s.WaitForConsumer {
			mode = storagev1.VolumeBindingWaitForFirstConsumer
		}
		if s.Default {
			fallback = s.Name
		}
		out = append(out, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: s.Name}, Provisioner: s.Provisioner, VolumeBindingMode: &mode, AllowedTopologies: s.AllowedTopologies})
	}
	out = append(out, persistent(snap, fallback)...)
	for i := range snap.Pods {
		out = append(out, ephemeral(&snap.Pods[i], fallback)...)
	}
	for _, n := range stage.Nodes {
		c := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: n.Name}}
		for _, driver := range []string{"ebs.csi.aws.com", "efs.csi.aws.com"} {
			d := storagev1.CSINodeDriver{Name: driver, NodeID: n.Name}
			if limit, ok := n.VolumeLimits[driver]; ok {
				count := int32(limit)
				d.Allocatable = &storagev1.VolumeNodeResources{Count: &count}
			}
			c.Spec.Drivers = append(c.Spec.Drivers, d)
		}
		out = append(out, c)
	}
	return out
}

// persistent makes the claims, and the volumes that some claim is bound to: a
// free volume would be bound by the first claim that fits, which a plan does not
// count on.
func persistent(snap *cluster.Snapshot, fallback string) []runtime.Object {
	var out []runtime.Object
	used := map[string]bool{}
	for _, c := range snap.PVCs {
		class := c.StorageClass
		if class == nil {
			class = &fallback
		}
		x := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name}, Spec: claimSpec(class), Status: corev1.PersistentVolumeClaimStatus{Phase: c.Phase}}
		if len(c.AccessModes) > 0 {
			x.Spec.AccessModes = c.AccessModes
		}
		if c.VolumeName != "" {
			x.Spec.VolumeName = c.VolumeName
			x.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
			used[c.VolumeName] = true
		}
		out = append(out, x)
	}
	for _, v := range snap.PVs {
		if !used[v.Name] {
			continue
		}
		x := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: v.Name}, Spec: corev1.PersistentVolumeSpec{StorageClassName: v.StorageClass}, Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound}}
		x.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: v.Driver, VolumeHandle: v.Name}
		if v.NodeAffinity != nil {
			x.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: v.NodeAffinity}
		}
		out = append(out, x)
	}
	return out
}

// ephemeral makes the claims of a pod's ephemeral volumes, as their controller
// does.
func ephemeral(p *cluster.Pod, fallback string) []runtime.Object {
	var out []runtime.Object
	for i, v := range p.Volumes {
		if !v.Ephemeral {
			continue
		}
		class := v.StorageClass
		if class == "" {
			class = fallback
		}
		yes := true
		out = append(out, &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: p.Namespace, Name: fmt.Sprintf("%s-v%d", p.Name, i),
				OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: types.UID(p.Namespace + "/" + p.Name), Controller: &yes}},
			},
			Spec: claimSpec(&class), Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
		})
	}
	return out
}

// everybody lists the pods of a stage, without one.
func everybody(stage *naive.Stage, without *cluster.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for _, n := range stage.Nodes {
		for _, p := range n.Pods {
			if p != without {
				out = append(out, pod(p, n.Name))
			}
		}
	}
	return slices.Clip(out)
}
