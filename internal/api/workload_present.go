package api

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// presence finds the workloads whose pods are in the input, which are then
// taken as they are.
type presence struct {
	found map[workloadKey]bool
	// controllers are the owners of the ReplicaSets and Jobs of the input.
	controllers map[workloadKey]cluster.Owner
	// bySelector are the workloads whose selector a label, or with the zero
	// label none in particular, may satisfy.
	bySelector map[selectorKey][]*workload
	// labels are the keys that occur in bySelector.
	labels map[string]bool
}

type selectorKey struct{ namespace, key, value string }

// findPresent tells which workloads must not be expanded: those with a pod in
// the input, and those whose own controller is in the input and makes their
// pods.
func findPresent(acc *coreAccumulator, pods []cluster.Pod) map[workloadKey]bool {
	p := presence{
		found:       make(map[workloadKey]bool),
		controllers: make(map[workloadKey]cluster.Owner),
		bySelector:  make(map[selectorKey][]*workload),
		labels:      make(map[string]bool),
	}
	known := make(map[workloadKey]bool, len(acc.workloads))
	for i := range acc.workloads {
		known[acc.workloads[i].key()] = true
	}
	for i := range acc.workloads {
		p.register(&acc.workloads[i], known)
	}
	for i := range pods {
		p.byOwner(&pods[i])
		p.byLabels(&pods[i])
	}
	return p.found
}

// register notes how the pods of a workload are found. A ReplicaSet of a
// Deployment leaves its pods to the Deployment, and a Job of a CronJob stands
// for the run that the CronJob would be planned as.
func (p *presence) register(w *workload, known map[workloadKey]bool) {
	k := w.key()
	p.controllers[k] = w.owner
	above := workloadKey{w.owner.Kind, k.namespace, w.owner.Name}
	switch {
	case k.kind == "ReplicaSet" && w.owner.Kind == "Deployment" && known[above]:
		p.found[k] = true
		return
	case k.kind == "Job" && w.owner.Kind == "CronJob":
		p.found[above] = true
	}
	if w.selector == nil {
		return
	}
	s := selectorKey{namespace: k.namespace}
	for _, label := range sortedKeys(w.selector.MatchLabels) {
		s.key, s.value = label, w.selector.MatchLabels[label]
		p.labels[label] = true
		break
	}
	p.bySelector[s] = append(p.bySelector[s], w)
}

// byOwner follows the controllers of a pod upwards. Where the one between is
// not in the input, its name tells who made it.
func (p *presence) byOwner(pod *cluster.Pod) {
	if pod.Owner.Kind == "" {
		return
	}
	k := workloadKey{pod.Owner.Kind, pod.Namespace, pod.Owner.Name}
	if p.found[k] && k.kind != "ReplicaSet" && k.kind != "Job" {
		return
	}
	p.found[k] = true
	above, ok := p.controllers[k]
	if !ok {
		above = makerOf(pod)
	}
	if above.Kind != "" {
		p.found[workloadKey{above.Kind, pod.Namespace, above.Name}] = true
	}
}

// makerOf reads from the name of a pod's owner who made that owner: a
// ReplicaSet is named after its Deployment and the hash of the template, a Job
// after its CronJob and the time of the run.
func makerOf(pod *cluster.Pod) cluster.Owner {
	name := pod.Owner.Name
	cut := strings.LastIndexByte(name, '-')
	if cut <= 0 {
		return cluster.Owner{}
	}
	switch pod.Owner.Kind {
	case "ReplicaSet":
		if hash, ok := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]; ok && hash == name[cut+1:] {
			return cluster.Owner{Kind: "Deployment", Name: name[:cut]}
		}
	case "Job":
		if strings.Trim(name[cut+1:], "0123456789") == "" {
			return cluster.Owner{Kind: "CronJob", Name: name[:cut]}
		}
	}
	return cluster.Owner{}
}

// byLabels finds the workloads whose selector matches a pod that nobody else
// controls. Their controllers would adopt it.
func (p *presence) byLabels(pod *cluster.Pod) {
	if len(p.bySelector) == 0 || pod.Owner.Kind != "" && pod.Owner.Kind != "ReplicaSet" {
		return
	}
	p.match(pod, selectorKey{namespace: pod.Namespace})
	for k := range p.labels {
		if v, ok := pod.Labels[k]; ok {
			p.match(pod, selectorKey{pod.Namespace, k, v})
		}
	}
}

// match marks the workloads under one key whose selector matches. A pod of a
// ReplicaSet is no orphan: only a Deployment finds it, by a ReplicaSet that is
// not in the input.
func (p *presence) match(pod *cluster.Pod, s selectorKey) {
	for _, w := range p.bySelector[s] {
		if pod.Owner.Kind == "ReplicaSet" {
			_, listed := p.controllers[workloadKey{"ReplicaSet", pod.Namespace, pod.Owner.Name}]
			if w.object.Kind != "Deployment" || listed {
				continue
			}
		}
		if cluster.Matches(w.selector, pod.Labels) {
			p.found[w.key()] = true
		}
	}
}
