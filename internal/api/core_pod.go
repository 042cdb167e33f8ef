package api

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// defaultScheduler is the scheduler of pods that name none.
const defaultScheduler = corev1.DefaultSchedulerName

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
	Resize                corev1.PodResizeStatus          `json:"resize"`
	AllocatedResources    corev1.ResourceList             `json:"allocatedResources"`
	Resources             *corev1.ResourceRequirements    `json:"resources"`
	ResourceClaimStatuses []corev1.PodResourceClaimStatus `json:"resourceClaimStatuses"`
}

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
	if s.Resize == corev1.PodResizeStatusInfeasible {
		return true
	}
	pending := findCondition(s.Conditions, string(corev1.PodResizePending))
	return pending != nil && pending.Status == "True" && pending.Reason == corev1.PodReasonInfeasible
}

// podConversion turns one pod, or one pod template, into a cluster.Pod. What
// the API server would refuse goes to rep; what is legal and cannot be planned
// becomes a problem of the pod.
type podConversion struct {
	rep      *reporter
	problems []string
}

func (c *podConversion) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// bad reports an error at a path.
func (c *podConversion) bad(p *corePath, format string, args ...any) {
	c.rep.addf(p.String(), format, args...)
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
func (c *podConversion) pod(o *Object, from *podObject) (cluster.Pod, podRefs) {
	m, status := &from.Metadata, &from.Status
	metadata := corePath{name: "metadata"}
	at := metadata.field("labels")
	c.checkLabels(m.Labels, &at)
	root := corePath{name: "spec"}
	pod, refs := c.podSpec(&from.Spec, status, m.Labels, &root)

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
	c.scheduling(&pod, &from.Spec, status)
	refs.written = m.written()
	return pod, refs
}

// scheduling says whether the pod waits for a node. A manifest written by hand
// has no condition: its pod would wait as soon as it is created.
func (c *podConversion) scheduling(pod *cluster.Pod, spec *corev1.PodSpec, status *podStatus) {
	pod.NodeName = spec.NodeName
	scheduled := findCondition(status.Conditions, string(corev1.PodScheduled))
	pod.Gated = len(spec.SchedulingGates) > 0 ||
		scheduled != nil && scheduled.Reason == corev1.PodReasonSchedulingGated
	pod.Unschedulable = pod.NodeName == "" && !pod.Gated &&
		(scheduled == nil || scheduled.Status == "False" && scheduled.Reason == corev1.PodReasonUnschedulable)
}

// podSpec converts what a pod and a pod template have in common. The labels are
// those of the pod: selectors are completed with them.
func (c *podConversion) podSpec(spec *corev1.PodSpec, status *podStatus, labels map[string]string, p *corePath) (cluster.Pod, podRefs) {
	c.checkContainers(spec, p)
	var pod cluster.Pod
	requests := c.requests(spec, status, p)
	at := p.field("overhead")
	requests.add(c.amounts(spec.Overhead, isContainerResource, &at))
	pod.Requests = c.settle(requests, p)

	at = p.field("nodeSelector")
	c.checkLabels(spec.NodeSelector, &at)
	pod.NodeSelector = c.currentSelector(spec.NodeSelector)
	at = p.field("affinity")
	pod.Affinity = completeAffinity(c.affinity(spec.Affinity, &at), labels)
	at = p.field("tolerations")
	pod.Tolerations = c.tolerations(spec.Tolerations, &at)
	at = p.field("topologySpreadConstraints")
	pod.Spread = completeSpread(c.spread(spec.TopologySpreadConstraints, &at), labels)
	pod.HostPorts = c.hostPorts(spec, p)

	var refs podRefs
	at = p.field("volumes")
	pod.Volumes, refs.ephemeral = c.volumes(spec.Volumes, &at)
	pod.PriorityClassName = spec.PriorityClassName
	if refs.classPriority = spec.Priority == nil; !refs.classPriority {
		pod.Priority = *spec.Priority
	}
	if pod.SchedulerName = spec.SchedulerName; pod.SchedulerName == "" {
		pod.SchedulerName = defaultScheduler
	}
	if spec.RuntimeClassName != nil {
		refs.runtimeClass = *spec.RuntimeClassName
	}
	refs.hasOverhead = len(spec.Overhead) > 0
	at = p.field("resourceClaims")
	refs.claims, refs.claimStatuses = c.resourceClaims(spec.ResourceClaims, &at), status.ResourceClaimStatuses
	pod.Problems = c.problems
	return pod, refs
}

// checkContainers refuses what no API server would take: no container, or two
// of one name, by which statuses and volumes would be told apart.
func (c *podConversion) checkContainers(spec *corev1.PodSpec, p *corePath) {
	list := p.field("containers")
	if len(spec.Containers) == 0 {
		c.bad(&list, "a pod needs at least one container")
	}
	for i := range spec.Containers {
		c.checkContainer(spec.Containers[:i], &spec.Containers[i], list.at(i))
	}
	list = p.field("initContainers")
	for i := range spec.InitContainers {
		c.checkContainer(spec.InitContainers[:i], &spec.InitContainers[i], list.at(i))
		for j := range spec.Containers {
			if spec.InitContainers[i].Name != "" && spec.InitContainers[i].Name == spec.Containers[j].Name {
				at := list.at(i)
				at = at.field("name")
				c.bad(&at, "%q is the name of a container too; give each its own", spec.InitContainers[i].Name)
			}
		}
	}
}

// checkContainer refuses a container without a name of its own.
func (c *podConversion) checkContainer(before []corev1.Container, k *corev1.Container, p corePath) {
	at := p.field("name")
	if k.Name == "" {
		c.bad(&at, "a container needs a name")
		return
	}
	for i := range before {
		if before[i].Name == k.Name {
			c.bad(&at, "%q is used twice; give each container its own name", k.Name)
			return
		}
	}
}

// checkLabels refuses labels, or a selector of labels, that the API server
// would refuse. The path is that of the map.
func (c *podConversion) checkLabels(labels map[string]string, p *corePath) {
	if labelsAreValid(labels) {
		return
	}
	for _, k := range sortedKeys(labels) {
		at := p.entry(k)
		if problem := labelKeyProblem(k); problem != "" {
			c.bad(&at, "the label key %q %s", k, problem)
		}
		if problem := labelValueProblem(labels[k]); problem != "" {
			c.bad(&at, "the label value %q %s", labels[k], problem)
		}
	}
}

// currentSelector renames beta aliases. A selector that gives an alias and its
// current name two values matches no node.
func (c *podConversion) currentSelector(selector map[string]string) map[string]string {
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
