package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// priorities are the values of the PriorityClasses.
var priorities = map[string]int32{"business-critical": 100_000, "batch": -100, "system-node-critical": 2_000_001_000}

// podObjects are the pods of the cluster: those of the daemons on every node,
// and of each workload those that run and those that wait.
func podObjects() []runtime.Object {
	var out []runtime.Object
	for _, d := range daemons {
		for _, n := range nodes {
			if d.runsOn(n) {
				out = append(out, d.pod(n))
			}
		}
	}
	for i := range workloads {
		w := &workloads[i]
		ordinal := 0
		for _, node := range slices.Sorted(maps.Keys(w.running)) {
			for range w.running[node] {
				out = append(out, w.pod(ordinal, node))
				ordinal++
			}
		}
		for range w.waiting {
			out = append(out, w.pod(ordinal, ""))
			ordinal++
		}
	}
	return out
}

// pod makes one pod of a workload; node is "" while it waits.
func (w *workload) pod(ordinal int, node string) *corev1.Pod {
	labels := map[string]string{"app.kubernetes.io/name": w.name, "app.kubernetes.io/part-of": w.namespace}
	owner, name := w.identity(ordinal, labels)
	age := 6*time.Minute + time.Duration(ordinal)*time.Second
	if node != "" {
		age = 26 * time.Hour
	}
	p := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: meta("Pod", w.namespace, name, age),
		Spec:       baseSpec(name, w.name, resources(w.cpu, w.memory, w.gpus)),
	}
	p.Labels = labels
	p.OwnerReferences = []metav1.OwnerReference{owner}
	if w.owner != "StatefulSet" {
		p.GenerateName = owner.Name + "-"
	}
	p.ManagedFields = []metav1.ManagedFieldsEntry{managed("kube-controller-manager", "v1",
		`{"f:metadata":{"f:labels":{".":{},"f:app.kubernetes.io/name":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"`+w.name+`\"}":{".":{},"f:image":{},"f:resources":{}}}}}`, age)}
	w.addPriority(&p.Spec)
	w.addVolume(&p.Spec, name)
	if w.owner == "Job" {
		p.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
	if w.shape != nil {
		w.shape(&p.Spec, labels)
	}
	if node != "" {
		bind(p, node, age)
	} else {
		w.wait(p, age)
	}
	return p
}

// identity gives a pod its name and owner, and the labels that the owner adds.
func (w *workload) identity(ordinal int, labels map[string]string) (metav1.OwnerReference, string) {
	yes := true
	owner := metav1.OwnerReference{APIVersion: "apps/v1", Kind: w.owner, Name: w.name, Controller: &yes, BlockOwnerDeletion: &yes}
	number := fmt.Sprint(ordinal)
	name := ""
	switch w.owner {
	case "ReplicaSet":
		hash := suffix(10, w.namespace, w.name)
		owner.Name = w.name + "-" + hash
		labels["pod-template-hash"] = hash
		name = owner.Name + "-" + suffix(5, w.namespace, w.name, number)
	case "StatefulSet":
		name = w.name + "-" + number
		labels["apps.kubernetes.io/pod-index"] = number
		labels["statefulset.kubernetes.io/pod-name"] = name
	case "Job":
		owner.APIVersion = "batch/v1"
		labels["batch.kubernetes.io/job-name"] = w.name
		name = w.name + "-" + suffix(5, w.namespace, w.name, number)
	}
	owner.UID = uid(w.owner, w.namespace, owner.Name)
	return owner, name
}

func (w *workload) addPriority(s *corev1.PodSpec) {
	value := priorities[w.priority]
	s.PriorityClassName, s.Priority = w.priority, &value
}

// addVolume mounts the claim of a workload: a StatefulSet's own one a pod, a
// Job's the one that it names.
func (w *workload) addVolume(s *corev1.PodSpec, pod string) {
	if w.claim == "" {
		return
	}
	claim := w.claim
	if w.owner == "StatefulSet" {
		claim += "-" + pod
	}
	s.Volumes = append(s.Volumes, corev1.Volume{Name: w.claim, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}})
	s.Containers[0].VolumeMounts = append(s.Containers[0].VolumeMounts, corev1.VolumeMount{Name: w.claim, MountPath: "/var/lib/" + w.name})
}

// wait is the state of a pod for which the scheduler found no node.
func (w *workload) wait(p *corev1.Pod, age time.Duration) {
	reason, message := corev1.PodReasonUnschedulable, "0/5 nodes are available: 2 node(s) had untolerated taint(s), 3 Insufficient cpu. no new claims to deallocate, preemption: 0/5 nodes are available: 5 No preemption victims found for incoming pod."
	if w.gated {
		p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "parcel.example/quota"}}
		reason, message = corev1.PodReasonSchedulingGated, "Scheduling is blocked due to non-empty scheduling gates"
	}
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: corev1.PodQOSBurstable, Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: ago(age)}}}
}

// bind is the state of a pod that runs.
func bind(p *corev1.Pod, node string, age time.Duration) {
	p.Spec.NodeName = node
	p.Status = corev1.PodStatus{Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable, Conditions: []corev1.PodCondition{
		{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: ago(age)},
		{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: ago(age - 20*time.Second)}}}
}

// resources are the requests and limits of a container.
func resources(cpu, memory string, gpus int64) corev1.ResourceRequirements {
	out := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)},
	}
	if gpus > 0 {
		out.Requests[gpuKey] = *resource.NewQuantity(gpus, resource.DecimalSI)
		out.Limits[gpuKey] = *resource.NewQuantity(gpus, resource.DecimalSI)
	}
	return out
}

// baseSpec is what the API server fills into every pod.
func baseSpec(pod, container string, r corev1.ResourceRequirements) corev1.PodSpec {
	links, grace, expire, mode := true, int64(30), int64(3607), int32(0o644)
	notReady := int64(300)
	token := "kube-api-access-" + suffix(5, pod)
	return corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: container, Image: "registry.parcel.example/" + container + ":2026.5", ImagePullPolicy: corev1.PullIfNotPresent, Resources: r,
			TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			VolumeMounts: []corev1.VolumeMount{{Name: token, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount", ReadOnly: true}},
		}},
		DNSPolicy: corev1.DNSClusterFirst, EnableServiceLinks: &links, RestartPolicy: corev1.RestartPolicyAlways,
		SchedulerName: corev1.DefaultSchedulerName, SecurityContext: &corev1.PodSecurityContext{},
		ServiceAccountName: "default", TerminationGracePeriodSeconds: &grace,
		Tolerations: []corev1.Toleration{
			{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &notReady},
			{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &notReady}},
		Volumes: []corev1.Volume{{Name: token, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{DefaultMode: &mode,
			Sources: []corev1.VolumeProjection{{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: &expire, Path: "token"}}}}}}},
	}
}
