package api

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// resolver answers what pods refer to once the whole input is read.
type resolver struct {
	acc          *coreAccumulator
	pvcs         map[string]bool // namespace/name
	priority     int32           // of pods that name no class
	defaultClass string
	users        map[string]int // pods without a node by claim
}

// newResolver finds the default priority. Of several default classes the one
// of the lowest value counts, as in the API server.
func newResolver(acc *coreAccumulator) *resolver {
	r := &resolver{acc: acc, pvcs: acc.claimNames()}
	for _, name := range sortedKeys(acc.priorityClasses) {
		class := acc.priorityClasses[name]
		if class.globalDefault && (r.defaultClass == "" || class.value < r.priority) {
			r.defaultClass, r.priority = name, class.value
		}
	}
	return r
}

// resolve completes a pod from what it refers to. What is not there becomes a
// problem of the pod.
func (r *resolver) resolve(pod *cluster.Pod, refs *podRefs) {
	if refs.classPriority {
		r.priorityOf(pod)
	}
	if refs.runtimeClass != "" {
		r.runtimeOf(pod, refs)
	}
	for _, v := range refs.ephemeral {
		claim := pod.Name + "-" + v.name
		if pod.Name != "" && r.pvcs[pod.Namespace+"/"+claim] {
			pod.Volumes[v.index] = cluster.Volume{Claim: claim}
		}
	}
	r.devices(pod, refs)
}

// builtinPriorities are the classes that every cluster has.
var builtinPriorities = map[string]int32{
	"system-cluster-critical": 2000000000,
	"system-node-critical":    2000001000,
}

// priorityOf sets the priority of a pod from its class.
func (r *resolver) priorityOf(pod *cluster.Pod) {
	name := pod.PriorityClassName
	if name == "" {
		pod.Priority, pod.PriorityClassName = r.priority, r.defaultClass
		return
	}
	if class, ok := r.acc.priorityClasses[name]; ok {
		pod.Priority = class.value
		return
	}
	value, ok := builtinPriorities[name]
	if !ok {
		addProblem(pod, fmt.Sprintf("It refers to the PriorityClass %s, which is not there; create it, or add it to the input.", name))
	}
	pod.Priority = value
}

// runtimeOf adds what a runtime class costs and demands, unless an API server
// has done so already.
func (r *resolver) runtimeOf(pod *cluster.Pod, refs *podRefs) {
	class, ok := r.acc.runtimeClasses[refs.runtimeClass]
	if !ok {
		if !refs.hasOverhead {
			addProblem(pod, fmt.Sprintf("It refers to the RuntimeClass %s, which is not there; create it, or add it to the input.", refs.runtimeClass))
		}
		return
	}
	if !refs.hasOverhead && len(class.overhead) > 0 {
		sum := tally(slices.Clone(pod.Requests))
		sum.add(class.overhead)
		for i := range sum {
			sum[i].Amount = min(sum[i].Amount, math.MaxInt64-1)
		}
		pod.Requests = sum.resources()
	}
	if !refs.written {
		return
	}
	if len(class.nodeSelector) > 0 {
		merged := maps.Clone(pod.NodeSelector)
		if merged == nil {
			merged = make(map[string]string, len(class.nodeSelector))
		}
		for _, k := range sortedKeys(class.nodeSelector) {
			v := class.nodeSelector[k]
			if have, ok := merged[k]; ok && have != v {
				addProblem(pod, fmt.Sprintf("Its nodeSelector wants %s to be %q and its RuntimeClass %s wants %q; change one of the two.", k, have, refs.runtimeClass, v))
				continue
			}
			merged[k] = v
		}
		pod.NodeSelector = merged
	}
	pod.Tolerations = withTolerations(pod.Tolerations, class.tolerations)
}

// withTolerations returns the list with those of more that it lacks.
func withTolerations(list, more []corev1.Toleration) []corev1.Toleration {
	out := slices.Clip(list)
	for i := range more {
		if !slices.ContainsFunc(list, func(t corev1.Toleration) bool { return sameToleration(&t, &more[i]) }) {
			out = append(out, more[i])
		}
	}
	return out
}

// addProblem notes on the pod why it cannot be planned. Pods of one template
// share the list, so it is never appended to in place.
func addProblem(pod *cluster.Pod, problem string) {
	pod.Problems = append(slices.Clip(pod.Problems), problem)
}

// shareParts lets pods of one owner share what is equal between them. They come
// from one template, so most of it is, and a scheduler that compares pods then
// mostly compares pointers.
func shareParts(pods []cluster.Pod) {
	last := make(map[ownerKey]*cluster.Pod)
	for i := range pods {
		p := &pods[i]
		if p.Owner.Kind == "" {
			continue
		}
		k := ownerKey{p.Namespace, p.Owner}
		q, ok := last[k]
		if !ok {
			last[k] = p
			continue
		}
		if slices.Equal(p.Requests, q.Requests) {
			p.Requests = q.Requests
		}
		if maps.Equal(p.NodeSelector, q.NodeSelector) {
			p.NodeSelector = q.NodeSelector
		}
		if maps.Equal(p.Labels, q.Labels) {
			p.Labels = q.Labels
		}
		if p.Affinity != nil && reflect.DeepEqual(p.Affinity, q.Affinity) {
			p.Affinity = q.Affinity
		}
		if len(p.Spread) > 0 && reflect.DeepEqual(p.Spread, q.Spread) {
			p.Spread = q.Spread
		}
		if slices.EqualFunc(p.Tolerations, q.Tolerations, func(a, b corev1.Toleration) bool { return sameToleration(&a, &b) }) {
			p.Tolerations = q.Tolerations
		}
	}
}

type ownerKey struct {
	namespace string
	owner     cluster.Owner
}

func sameToleration(a, b *corev1.Toleration) bool {
	same := a.Key == b.Key && a.Operator == b.Operator && a.Value == b.Value && a.Effect == b.Effect
	if a.TolerationSeconds == nil || b.TolerationSeconds == nil {
		return same && a.TolerationSeconds == b.TolerationSeconds
	}
	return same && *a.TolerationSeconds == *b.TolerationSeconds
}
