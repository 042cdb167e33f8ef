package main

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The standing nodes.
const (
	nodeArm      = "ip-10-0-11-42.ec2.internal"
	nodeSpot     = "ip-10-0-12-7.ec2.internal"
	nodeOnDemand = "ip-10-0-13-201.ec2.internal"
	nodeSystemA  = "ip-10-0-11-10.ec2.internal"
	nodeSystemB  = "ip-10-0-12-10.ec2.internal"
)

type node struct {
	name, instanceType, arch, zone, capacityType string
	pool                                         string // "" for those of a managed node group
	cpus, gib                                    int64
	cpuMilli, memoryMiB, pods                    int64 // allocatable
}

var nodes = []node{
	{nodeArm, "m7g.2xlarge", "arm64", "us-east-1a", "spot", "general", 8, 32, 7910, 29_180, 58},
	{nodeSpot, "c6a.4xlarge", "amd64", "us-east-1b", "spot", "general", 16, 32, 15_890, 27_381, 234},
	{nodeOnDemand, "m6i.2xlarge", "amd64", "us-east-1c", "on-demand", "general", 8, 32, 7910, 29_317, 58},
	{nodeSystemA, "t3.large", "amd64", "us-east-1a", "on-demand", "", 2, 8, 1930, 6965, 35},
	{nodeSystemB, "t3.large", "amd64", "us-east-1b", "on-demand", "", 2, 8, 1930, 6965, 35},
}

// daemon is a DaemonSet of the cluster.
type daemon struct {
	name, cpu, memory string
	gpuOnly           bool
}

var daemons = []daemon{
	{name: "aws-node", cpu: "50m", memory: "64Mi"},
	{name: "kube-proxy", cpu: "100m", memory: "64Mi"},
	{name: "ebs-csi-node", cpu: "30m", memory: "120Mi"},
	{name: "log-agent", cpu: "100m", memory: "200Mi"},
	{name: "nvidia-device-plugin", cpu: "50m", memory: "64Mi", gpuOnly: true},
}

func (d daemon) runsOn(node) bool { return !d.gpuOnly } // none of the standing nodes has a GPU

func (d daemon) labels() map[string]string { return map[string]string{"k8s-app": d.name} }

// spec is the pod of a daemon: it tolerates everything.
func (d daemon) spec() corev1.PodSpec {
	s := baseSpec(d.name, d.name, resources(d.cpu, d.memory, 0))
	value := priorities["system-node-critical"]
	s.PriorityClassName, s.Priority = "system-node-critical", &value
	s.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	if d.gpuOnly {
		s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "karpenter.k8s.aws/instance-gpu-count", Operator: corev1.NodeSelectorOpExists}}}}}}}
	}
	return s
}

// pod is the daemon's pod on a node.
func (d daemon) pod(n node) *corev1.Pod {
	yes := true
	name := d.name + "-" + suffix(5, d.name, n.name)
	p := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: meta("Pod", "kube-system", name, 26*time.Hour),
		Spec:       d.spec(),
	}
	p.GenerateName, p.Labels = d.name+"-", d.labels()
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: d.name, UID: uid("DaemonSet", "kube-system", d.name), Controller: &yes, BlockOwnerDeletion: &yes}}
	pinTo(&p.Spec, n.name)
	bind(p, n.name, 26*time.Hour)
	return p
}

// pinTo is how the DaemonSet controller brings a pod to its node.
func pinTo(s *corev1.PodSpec, node string) {
	s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}}}}}
}

func (d daemon) object() *appsv1.DaemonSet {
	ds := &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: meta("DaemonSet", "kube-system", d.name, 200*24*time.Hour),
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: d.labels()},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: d.labels()}, Spec: d.spec()},
		},
	}
	ds.Spec.Template.Spec.Priority = nil // admission fills it into pods, not into templates
	return ds
}

// object is a node as the kubelet and the autoscaler left it.
func (n node) object() *corev1.Node {
	id := "i-0" + strings.ReplaceAll(string(uid("instance", n.name)), "-", "")[:16]
	out := &corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: meta("Node", "", n.name, 27*time.Hour),
		Spec:       corev1.NodeSpec{ProviderID: "aws:///" + n.zone + "/" + id},
	}
	out.Labels = map[string]string{
		corev1.LabelArchStable: n.arch, corev1.LabelOSStable: "linux", corev1.LabelHostname: n.name,
		corev1.LabelInstanceTypeStable: n.instanceType, corev1.LabelTopologyRegion: "us-east-1", corev1.LabelTopologyZone: n.zone,
	}
	if n.pool != "" {
		out.Labels["karpenter.sh/nodepool"] = n.pool
		out.Labels[typeKey] = n.capacityType
		out.Labels["karpenter.k8s.aws/ec2nodeclass"] = "default"
		out.Labels["karpenter.sh/registered"] = "true"
		out.Labels["karpenter.sh/initialized"] = "true"
	} else {
		out.Labels["eks.amazonaws.com/nodegroup"] = "system"
		out.Spec.Taints = []corev1.Taint{{Key: "CriticalAddonsOnly", Effect: corev1.TaintEffectNoSchedule}}
	}
	out.ManagedFields = []metav1.ManagedFieldsEntry{managed("kubelet", "v1", `{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{"f:lastHeartbeatTime":{}}}}}`, time.Minute)}
	out.Status = corev1.NodeStatus{
		Capacity:    amounts(n.cpus*1000, n.gib*1024*97/100, n.pods),
		Allocatable: amounts(n.cpuMilli, n.memoryMiB, n.pods),
		Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: ago(time.Minute), LastTransitionTime: ago(27 * time.Hour)}},
		NodeInfo:    corev1.NodeSystemInfo{Architecture: n.arch, OperatingSystem: "linux", KubeletVersion: "v1.35.1-eks-9f8c7d6", OSImage: "Amazon Linux 2023"},
	}
	return out
}

func amounts(cpuMilli, memoryMiB, pods int64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewMilliQuantity(cpuMilli, resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(memoryMiB<<20, resource.BinarySI),
		corev1.ResourceEphemeralStorage: resource.MustParse("95551679124"),
		corev1.ResourcePods:             *resource.NewQuantity(pods, resource.DecimalSI),
	}
}

// clusterObjects are what is not a pod, a volume or a NodePool.
func clusterObjects() []runtime.Object {
	var out []runtime.Object
	for _, name := range []string{"billing", "data", "kube-system", "ml", "notify", "routing", "storefront", "tracking"} {
		ns := &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: meta("Namespace", "", name, 400*24*time.Hour)}
		ns.Labels = map[string]string{corev1.LabelMetadataName: name}
		ns.Status.Phase = corev1.NamespaceActive
		out = append(out, ns)
	}
	for _, name := range []string{"business-critical", "batch"} {
		out = append(out, &schedulingv1.PriorityClass{TypeMeta: metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass"},
			ObjectMeta: meta("PriorityClass", "", name, 400*24*time.Hour), Value: priorities[name]})
	}
	for _, n := range nodes {
		out = append(out, n.object())
	}
	for _, n := range nodes {
		count := int32(26)
		csi := &storagev1.CSINode{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSINode"}, ObjectMeta: meta("CSINode", "", n.name, 27*time.Hour)}
		csi.Spec.Drivers = []storagev1.CSINodeDriver{{Name: "ebs.csi.aws.com", NodeID: "i-" + n.name[3:8], TopologyKeys: []string{zoneKey}, Allocatable: &storagev1.VolumeNodeResources{Count: &count}}}
		out = append(out, csi)
	}
	for _, d := range daemons {
		out = append(out, d.object())
	}
	for _, w := range workloads {
		if w.priority == "business-critical" {
			out = append(out, budget(w))
		}
	}
	return append(out, notifier())
}

// budget lets one pod of a workload be away at a time.
func budget(w workload) *policyv1.PodDisruptionBudget {
	one := intstr.FromInt32(1)
	pdb := &policyv1.PodDisruptionBudget{TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}, ObjectMeta: meta("PodDisruptionBudget", w.namespace, w.name, 90*24*time.Hour)}
	pdb.Spec = policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one, Selector: selector(map[string]string{"app.kubernetes.io/name": w.name})}
	pdb.Status.ExpectedPods = int32(w.waiting)
	return pdb
}

// notifier is a Deployment whose pods are not in the input: the plan is to make
// them up.
func notifier() *appsv1.Deployment {
	replicas := int32(8)
	labels := map[string]string{"app.kubernetes.io/name": "notifier"}
	d := &appsv1.Deployment{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: meta("Deployment", "notify", "notifier", time.Minute)}
	d.Spec = appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: baseSpec("notifier", "notifier", resources("200m", "256Mi", 0))}}
	return d
}

// storageObjects are the volumes: Postgres' stand in their zones already,
// Kafka's will be made where its pods go.
func storageObjects() []runtime.Object {
	wait, reclaim := storagev1.VolumeBindingWaitForFirstConsumer, corev1.PersistentVolumeReclaimDelete
	class := &storagev1.StorageClass{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"}, ObjectMeta: meta("StorageClass", "", "gp3", 400*24*time.Hour),
		Provisioner: "ebs.csi.aws.com", VolumeBindingMode: &wait, ReclaimPolicy: &reclaim, Parameters: map[string]string{"type": "gp3"}}
	class.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
	out := []runtime.Object{class}
	for i, zone := range []string{"us-east-1a", "us-east-1b", "us-east-1c"} {
		claim, volume := boundVolume(fmt.Sprintf("data-postgres-%d", i), zone)
		out = append(out, claim, volume)
	}
	for i := range 3 {
		c := claimOf(fmt.Sprintf("log-kafka-%d", i), "500Gi")
		c.Status.Phase = corev1.ClaimPending
		out = append(out, c)
	}
	return out
}

func claimOf(name, size string) *corev1.PersistentVolumeClaim {
	class, mode := "gp3", corev1.PersistentVolumeFilesystem
	c := &corev1.PersistentVolumeClaim{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: meta("PersistentVolumeClaim", "data", name, 300*24*time.Hour)}
	c.Spec = corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class, VolumeMode: &mode,
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}}}
	return c
}

// boundVolume is a claim and the disk in a zone that it is bound to.
func boundVolume(name, zone string) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
	c := claimOf(name, "200Gi")
	mode := corev1.PersistentVolumeFilesystem
	volume := "pvc-" + string(c.UID)
	c.Spec.VolumeName, c.Status.Phase = volume, corev1.ClaimBound
	pv := &corev1.PersistentVolume{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: meta("PersistentVolume", "", volume, 300*24*time.Hour)}
	pv.Spec = corev1.PersistentVolumeSpec{
		AccessModes: c.Spec.AccessModes, Capacity: c.Spec.Resources.Requests, StorageClassName: "gp3", VolumeMode: &mode, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
		ClaimRef:               &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name, UID: c.UID},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "ebs.csi.aws.com", VolumeHandle: "vol-0" + string(c.UID)[:8], FSType: "ext4"}},
		NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: zoneKey, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}}}}}},
	}
	pv.Status.Phase = corev1.VolumeBound
	return c, pv
}
