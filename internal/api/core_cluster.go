package api

import (
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

type nodeObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta        `json:"metadata,omitempty"`
	Spec            corev1.NodeSpec `json:"spec,omitempty"`
	Status          nodeStatus      `json:"status,omitempty"`
}

type nodeStatus struct {
	Capacity    corev1.ResourceList `json:"capacity"`
	Allocatable corev1.ResourceList `json:"allocatable"`
	Conditions  []statusCondition   `json:"conditions"`
}

// addNode keeps a node. One that was written by hand has no conditions and is
// taken for ready, and what it can allocate defaults to its capacity.
func (acc *coreAccumulator) addNode(o *Object, rep *reporter) {
	var from nodeObject
	c := acc.read(o, &from, &from.Metadata, rep)
	m, status := &from.Metadata, &from.Status
	node := cluster.Node{
		Name: o.Name, UID: m.UID,
		ProviderID:  from.Spec.ProviderID,
		Labels:      withCurrentNames(m.Labels),
		Annotations: ownAnnotations(m.Annotations),
		Taints:      from.Spec.Taints,
		Capacity:    resourcesOf(status.Capacity, "status.capacity", rep),
		Allocatable: resourcesOf(status.Allocatable, "status.allocatable", rep),
		Ready:       len(status.Conditions) == 0,
		Cordoned:    from.Spec.Unschedulable,
		Deleting:    m.DeletionTimestamp != nil,
		Created:     m.CreationTimestamp.Time,
	}
	if node.Allocatable == nil {
		node.Allocatable = node.Capacity
	}
	if ready := findCondition(status.Conditions, string(corev1.NodeReady)); ready != nil {
		node.Ready = ready.Status == string(corev1.ConditionTrue)
	}
	c.in("spec")
	c.taints(node.Taints)
	if c.clean() {
		acc.nodes = append(acc.nodes, node)
	}
}

// taints refuses taints that the API server would refuse.
func (c *conversion) taints(list []corev1.Taint) {
	for i := range list {
		back := c.at("taints", i)
		c.labelKey("key", list[i].Key)
		switch list[i].Effect {
		case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		default:
			c.bad("effect", "%q is not allowed; use NoSchedule, PreferNoSchedule or NoExecute", list[i].Effect)
		}
		c.back(back)
	}
}

type namespaceObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta `json:"metadata,omitempty"`
	Spec            skipped  `json:"spec,omitempty"`
	Status          skipped  `json:"status,omitempty"`
}

// addNamespace keeps a namespace with the label of its name, which every API
// server sets.
func (acc *coreAccumulator) addNamespace(o *Object, rep *reporter) {
	var from namespaceObject
	c := acc.read(o, &from, &from.Metadata, rep)
	if !c.clean() {
		return
	}
	labels := from.Metadata.Labels
	if labels == nil {
		labels = make(map[string]string, 1)
	}
	labels[corev1.LabelMetadataName] = o.Name
	acc.namespaces = append(acc.namespaces, cluster.Namespace{Name: o.Name, Labels: labels})
}

// priorityClass is what pods take from a PriorityClass.
type priorityClass struct {
	value         int32
	globalDefault bool
}

type priorityClassObject struct {
	metav1.TypeMeta  `json:",inline"`
	Metadata         coreMeta                 `json:"metadata,omitempty"`
	Value            int32                    `json:"value"`
	GlobalDefault    bool                     `json:"globalDefault,omitempty"`
	Description      string                   `json:"description,omitempty"`
	PreemptionPolicy *corev1.PreemptionPolicy `json:"preemptionPolicy,omitempty"`
}

// addPriorityClass keeps a priority class.
func (acc *coreAccumulator) addPriorityClass(o *Object, rep *reporter) {
	var from priorityClassObject
	c := acc.read(o, &from, &from.Metadata, rep)
	if !c.clean() {
		return
	}
	if acc.priorityClasses == nil {
		acc.priorityClasses = make(map[string]priorityClass)
	}
	acc.priorityClasses[o.Name] = priorityClass{value: from.Value, globalDefault: from.GlobalDefault}
}

// runtimeClass is what pods take from a RuntimeClass.
type runtimeClass struct {
	overhead     tally
	nodeSelector map[string]string
	tolerations  []corev1.Toleration
}

type runtimeClassObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta           `json:"metadata,omitempty"`
	Handler         string             `json:"handler"`
	Overhead        *nodev1.Overhead   `json:"overhead,omitempty"`
	Scheduling      *nodev1.Scheduling `json:"scheduling,omitempty"`
}

// addRuntimeClass keeps a runtime class.
func (acc *coreAccumulator) addRuntimeClass(o *Object, rep *reporter) {
	var from runtimeClassObject
	c := acc.read(o, &from, &from.Metadata, rep)
	var class runtimeClass
	if from.Overhead != nil {
		class.overhead = c.amounts("overhead.podFixed", from.Overhead.PodFixed, isContainerResource)
	}
	if from.Scheduling != nil {
		c.in("scheduling")
		c.checkLabels("nodeSelector", from.Scheduling.NodeSelector)
		class.nodeSelector = c.currentSelector(from.Scheduling.NodeSelector)
		class.tolerations = c.tolerations(from.Scheduling.Tolerations)
	}
	if !c.clean() {
		return
	}
	if acc.runtimeClasses == nil {
		acc.runtimeClasses = make(map[string]runtimeClass)
	}
	acc.runtimeClasses[o.Name] = class
}

type pdbObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta                         `json:"metadata,omitempty"`
	Spec            policyv1.PodDisruptionBudgetSpec `json:"spec,omitempty"`
	Status          pdbStatus                        `json:"status,omitempty"`
}

type pdbStatus struct {
	ObservedGeneration int64  `json:"observedGeneration"`
	DisruptionsAllowed *int32 `json:"disruptionsAllowed"`
}

// podBudget is a PodDisruptionBudget until the pods are known: one that was
// written by hand has no status, and its allowance is counted here.
type podBudget struct {
	pdb                          cluster.PDB
	counted                      bool
	minAvailable, maxUnavailable *intstr.IntOrString
}

// addPDB keeps a pod disruption budget.
func (acc *coreAccumulator) addPDB(o *Object, rep *reporter) {
	var from pdbObject
	c := acc.read(o, &from, &from.Metadata, rep)
	c.in("spec")
	c.labelSelector("selector", from.Spec.Selector)
	c.shareOfPods("minAvailable", from.Spec.MinAvailable)
	c.shareOfPods("maxUnavailable", from.Spec.MaxUnavailable)
	if from.Spec.MinAvailable != nil && from.Spec.MaxUnavailable != nil {
		c.bad("maxUnavailable", "minAvailable is set too; keep one of the two")
	}
	if !c.clean() {
		return
	}
	b := podBudget{
		pdb:          cluster.PDB{Namespace: o.Namespace, Name: o.Name, Selector: from.Spec.Selector},
		minAvailable: from.Spec.MinAvailable, maxUnavailable: from.Spec.MaxUnavailable,
	}
	if p := from.Spec.UnhealthyPodEvictionPolicy; p != nil {
		b.pdb.UnhealthyAlways = *p == policyv1.AlwaysAllow
	}
	if allowed := from.Status.DisruptionsAllowed; allowed != nil {
		b.counted, b.pdb.DisruptionsAllowed = true, max(*allowed, 0)
	}
	acc.pdbs = append(acc.pdbs, b)
}

// shareOfPods checks a number of pods or a percentage of them.
func (c *conversion) shareOfPods(field string, v *intstr.IntOrString) {
	if v == nil {
		return
	}
	if n, err := intstr.GetScaledValueFromIntOrPercent(v, 100, true); err != nil || n < 0 || v.Type == intstr.String && n > 100 {
		c.bad(field, "%q is not allowed; use a number from 0, or a percentage from \"0%%\" to \"100%%\"", v.String())
	}
}

// settle counts how many pods the budget lets go now, where no server has.
func (b *podBudget) settle(pods []cluster.Pod) cluster.PDB {
	if b.counted {
		return b.pdb
	}
	expected, healthy := 0, 0
	for i := range pods {
		p := &pods[i]
		if p.Namespace != b.pdb.Namespace || phaseEnded(p.Phase) || !cluster.Matches(b.pdb.Selector, p.Labels) {
			continue
		}
		expected++
		if p.NodeName != "" && !p.Deleting {
			healthy++
		}
	}
	need := 0
	switch {
	case b.maxUnavailable != nil:
		n, _ := intstr.GetScaledValueFromIntOrPercent(b.maxUnavailable, expected, true)
		need = expected - n
	case b.minAvailable != nil:
		need, _ = intstr.GetScaledValueFromIntOrPercent(b.minAvailable, expected, true)
	}
	b.pdb.DisruptionsAllowed = int32(max(healthy-max(need, 0), 0))
	return b.pdb
}
