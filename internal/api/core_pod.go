package api

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// podObject is a Pod as it is decoded: the spec whole, so that a misspelt field
// is found, and of the rest what a plan reads.
type podObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta       `json:"metadata,omitempty"`
	Spec            corev1.PodSpec `json:"spec,omitempty"`
	Status          podStatus      `json:"status,omitempty"`
}

// podStatus is the part of a pod's status that a plan reads.
type podStatus struct {
	Phase                 corev1.PodPhase                 `json:"phase"`
	NominatedNodeName     string                          `json:"nominatedNodeName"`
	Conditions            []statusCondition               `json:"conditions"`
	ContainerStatuses     []containerStatus               `json:"containerStatuses"`
	InitContainerStatuses []containerStatus               `json:"initContainerStatuses"`
	Resize                string                          `json:"resize"`
	AllocatedResources    corev1.ResourceList             `json:"allocatedResources"`
	Resources             *corev1.ResourceRequirements    `json:"resources"`
	ResourceClaimStatuses []corev1.PodResourceClaimStatus `json:"resourceClaimStatuses"`
}

// resizeInfeasible is what status.resize says, in clusters before 1.33, of a pod
// whose new size does not fit on its node.
const resizeInfeasible = "Infeasible"

// statusCondition is a condition of a pod or node.
type statusCondition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	Reason string `json:"reason"`
}

func findCondition(list []statusCondition, kind string) *statusCondition {
	for i := range list {
		if list[i].Type == kind {
			return &list[i]
		}
	}
	return nil
}

// resizeInfeasible tells whether the node has found that it will never hold
// what the pod now asks for. Servers up to 1.32 say so in a field of its own.
func (s *podStatus) resizeInfeasible() bool {
	if s.Resize == resizeInfeasible {
		return true
	}
	pending := findCondition(s.Conditions, string(corev1.PodResizePending))
	return pending != nil && pending.Status == "True" && pending.Reason == corev1.PodReasonInfeasible
}

// podRefs are the references of a pod that only the whole input can resolve.
type podRefs struct {
	written       bool // by hand or from a template: admission is yet to come
	classPriority bool // spec.priority is not set
	runtimeClass  string
	hasOverhead   bool
	claims        []corev1.PodResourceClaim
	claimStatuses []corev1.PodResourceClaimStatus
	ephemeral     []ephemeralVolume
}

// ephemeralVolume is the position in Pod.Volumes of a generic ephemeral volume
// and its name in the pod.
type ephemeralVolume struct {
	index int
	name  string
}

func (r *podRefs) empty() bool {
	return !r.classPriority && r.runtimeClass == "" && len(r.claims) == 0 && len(r.ephemeral) == 0
}

// pod converts a Pod.
func (c *conversion) pod(o *Object, from *podObject) (cluster.Pod, podRefs) {
	m, status := &from.Metadata, &from.Status
	c.checkLabels("metadata.labels", m.Labels)
	pod, refs := c.podSpec("spec", &from.Spec, status, m.Labels)

	pod.Namespace, pod.Name, pod.UID = o.Namespace, o.Name, m.UID
	pod.Labels = m.Labels
	pod.Annotations = ownAnnotations(m.Annotations)
	pod.Owner = m.owner()
	pod.Created = m.CreationTimestamp.Time
	pod.Deleting = m.DeletionTimestamp != nil
	pod.NominatedNodeName = status.NominatedNodeName
	if pod.Phase = status.Phase; pod.Phase == "" {
		pod.Phase = corev1.PodPending
	}
	scheduling(&pod, &from.Spec, status)
	refs.written = m.written()
	return pod, refs
}

// scheduling says whether the pod waits for a node. A manifest written by hand
// has no condition: its pod would wait as soon as it is created.
func scheduling(pod *cluster.Pod, spec *corev1.PodSpec, status *podStatus) {
	pod.NodeName = spec.NodeName
	scheduled := findCondition(status.Conditions, string(corev1.PodScheduled))
	pod.Gated = len(spec.SchedulingGates) > 0 ||
		scheduled != nil && scheduled.Reason == corev1.PodReasonSchedulingGated
	pod.Unschedulable = pod.NodeName == "" && !pod.Gated &&
		(scheduled == nil || scheduled.Status == "False" && scheduled.Reason == corev1.PodReasonUnschedulable)
}

// podSpec converts what a pod and a pod template have in common, in a field.
// The labels are those of the pod: selectors are completed with them.
func (c *conversion) podSpec(name string, spec *corev1.PodSpec, status *podStatus, labels map[string]string) (cluster.Pod, podRefs) {
	defer c.back(c.in(name))
	c.checkContainers(spec)
	var pod cluster.Pod
	requests := c.requests(spec, status)
	requests.add(c.amounts("overhead", spec.Overhead, isContainerResource))
	pod.Requests = c.settle(requests)

	c.checkLabels("nodeSelector", spec.NodeSelector)
	pod.NodeSelector = c.currentSelector(spec.NodeSelector)
	pod.Affinity = completeAffinity(c.affinity(spec.Affinity), labels)
	pod.Tolerations = c.tolerations(spec.Tolerations)
	pod.Spread = completeSpread(c.spread(spec.TopologySpreadConstraints), labels)
	pod.HostPorts = c.hostPorts(spec)

	var refs podRefs
	pod.Volumes, refs.ephemeral = c.volumes(spec.Volumes)
	pod.PriorityClassName = spec.PriorityClassName
	if refs.classPriority = spec.Priority == nil; !refs.classPriority {
		pod.Priority = *spec.Priority
	}
	if pod.SchedulerName = spec.SchedulerName; pod.SchedulerName == "" {
		pod.SchedulerName = corev1.DefaultSchedulerName
	}
	if spec.RuntimeClassName != nil {
		refs.runtimeClass = *spec.RuntimeClassName
	}
	refs.hasOverhead = len(spec.Overhead) > 0
	refs.claims, refs.claimStatuses = c.resourceClaims(spec.ResourceClaims), status.ResourceClaimStatuses
	pod.Problems = c.problems
	return pod, refs
}

// checkContainers refuses what no API server would take: no container, or two
// of one name, by which statuses and volumes would be told apart.
func (c *conversion) checkContainers(spec *corev1.PodSpec) {
	if len(spec.Containers) == 0 {
		c.bad("containers", "a pod needs at least one container")
	}
	c.checkNames("containers", spec.Containers, nil)
	c.checkNames("initContainers", spec.InitContainers, spec.Containers)
}

// checkNames refuses containers of a list without a name of their own.
func (c *conversion) checkNames(field string, list, others []corev1.Container) {
	for i := range list {
		name := list[i].Name
		taken := func(k corev1.Container) bool { return k.Name == name }
		switch {
		case name == "":
			c.bad(index(field, i)+".name", "a container needs a name")
		case slices.ContainsFunc(list[:i], taken) || slices.ContainsFunc(others, taken):
			c.bad(index(field, i)+".name", "%q is used twice; give each container its own name", name)
		}
	}
}

// checkLabels refuses labels, or a selector of labels, that the API server
// would refuse.
func (c *conversion) checkLabels(field string, labels map[string]string) {
	if labelsAreValid(labels) {
		return
	}
	for _, k := range sortedKeys(labels) {
		if problem := labelKeyProblem(k); problem != "" {
			c.bad(key(field, k), "the label key %q %s", k, problem)
		}
		if problem := labelValueProblem(labels[k]); problem != "" {
			c.bad(key(field, k), "the label value %q %s", labels[k], problem)
		}
	}
}

// currentSelector renames beta aliases. A selector that gives an alias and its
// current name two values matches no node.
func (c *conversion) currentSelector(selector map[string]string) map[string]string {
	if len(selector) == 0 {
		return nil
	}
	renamed := false
	for k := range selector {
		renamed = renamed || cluster.NormalLabel(k) != k
	}
	if !renamed {
		return selector
	}
	out := make(map[string]string, len(selector))
	for _, k := range sortedKeys(selector) {
		current := cluster.NormalLabel(k)
		if have, ok := out[current]; ok && have != selector[k] {
			c.problem("Its nodeSelector wants %s to be both %q and %q, which no node is; keep one of the two names of that label.", current, have, selector[k])
			continue
		}
		out[current] = selector[k]
	}
	return out
}
