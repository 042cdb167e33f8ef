package api

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// activeCapacity is the one strategy of buffers that nodes can be planned for.
const activeCapacity = "buffer.x-k8s.io/active-capacity"

type bufferObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta   `json:"metadata,omitempty"`
	Spec            bufferSpec `json:"spec,omitempty"`
	Status          skipped    `json:"status,omitempty"`
}

// bufferSpec is the spec of a CapacityBuffer.
type bufferSpec struct {
	ProvisioningStrategy *string             `json:"provisioningStrategy,omitempty"`
	PodTemplateRef       *bufferTemplateRef  `json:"podTemplateRef,omitempty"`
	ScalableRef          *bufferScalableRef  `json:"scalableRef,omitempty"`
	Replicas             *int32              `json:"replicas,omitempty"`
	Percentage           *int32              `json:"percentage,omitempty"`
	Limits               corev1.ResourceList `json:"limits,omitempty"`
}

type bufferTemplateRef struct {
	Name string `json:"name"`
}

type bufferScalableRef struct {
	APIGroup string `json:"apiGroup,omitempty"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
}

// buffer is a CapacityBuffer until the templates are known.
type buffer struct {
	object Object // without its bytes
	spec   bufferSpec
	limits tally
}

// addBuffer keeps a capacity buffer.
func (acc *coreAccumulator) addBuffer(o *Object, rep *reporter) {
	var from bufferObject
	c := acc.read(o, &from, &from.Metadata, rep)
	b := buffer{object: *o, spec: from.Spec}
	b.object.Raw = nil
	b.check(&c)
	b.limits = c.amounts("spec.limits", from.Spec.Limits, isContainerResource)
	if s := from.Spec.ProvisioningStrategy; s != nil && *s != "" && *s != activeCapacity {
		c.odd("spec.provisioningStrategy", "%s is another provisioner's, so the buffer is passed over; only %s is planned", *s, activeCapacity)
		return
	}
	if c.clean() {
		acc.buffers = append(acc.buffers, b)
	}
}

// check refuses a buffer whose size or shape is not defined.
func (b *buffer) check(c *conversion) {
	s := &b.spec
	switch {
	case s.PodTemplateRef == nil && s.ScalableRef == nil:
		c.bad("spec", "needs podTemplateRef or scalableRef, which say what its pods look like")
	case s.PodTemplateRef != nil && s.ScalableRef != nil:
		c.bad("spec", "has both podTemplateRef and scalableRef; keep one of the two")
	case s.PodTemplateRef != nil && s.Replicas == nil && len(s.Limits) == 0:
		c.bad("spec.replicas", "is missing; a buffer with podTemplateRef needs replicas or limits, which say how large it is")
	case s.ScalableRef != nil && s.Replicas == nil && s.Percentage == nil && len(s.Limits) == 0:
		c.bad("spec.percentage", "is missing; a buffer needs replicas, percentage or limits, which say how large it is")
	}
	if s.PodTemplateRef != nil && s.PodTemplateRef.Name == "" {
		c.bad("spec.podTemplateRef.name", "names no PodTemplate")
	}
	if r := s.ScalableRef; r != nil && r.Name == "" {
		c.bad("spec.scalableRef.name", "names no object")
	}
	if r := s.ScalableRef; r != nil && r.Kind == "" {
		c.bad("spec.scalableRef.kind", "names no kind; write one such as Deployment")
	}
	if s.Replicas != nil && *s.Replicas < 0 {
		c.bad("spec.replicas", "%d is negative; use 0 or more", *s.Replicas)
	}
	if s.Percentage != nil && *s.Percentage < 0 {
		c.bad("spec.percentage", "%d is negative; use 0 or more", *s.Percentage)
	}
}

// fillBuffers appends the virtual pods of the capacity buffers.
func fillBuffers(acc *coreAccumulator, r *resolver, pods []cluster.Pod, rep *reporter) []cluster.Pod {
	if len(acc.buffers) == 0 {
		return pods
	}
	scalables := make(map[workloadKey]*workload, len(acc.workloads))
	for i := range acc.workloads {
		scalables[acc.workloads[i].key()] = &acc.workloads[i]
	}
	total, most := int64(0), acc.mostPods()
	for i := range acc.buffers {
		b := &acc.buffers[i]
		rep.at(&b.object)
		w, missing := b.shape(acc, scalables)
		if missing != "" {
			pods = append(pods, b.pod(cluster.Pod{Namespace: b.object.Namespace, Problems: []string{missing}}, 0))
			continue
		}
		proto := w.pod
		refs := w.refs
		proto.Volumes = slices.Clone(proto.Volumes)
		r.resolve(&proto, &refs)
		n := b.size(w, proto.Requests, rep)
		if total += n; total > most {
			rep.addf("spec", "%d pods here make more than %d in all buffers; lower replicas or limits", n, most)
			return pods
		}
		pods = slices.Grow(pods, int(n))
		for i := range n {
			pods = append(pods, b.pod(proto, i))
		}
	}
	return pods
}

// shape finds what the buffer's pods look like, or says what is missing.
func (b *buffer) shape(acc *coreAccumulator, scalables map[workloadKey]*workload) (w *workload, missing string) {
	ns := b.object.Namespace
	if ref := b.spec.PodTemplateRef; ref != nil {
		if w, ok := acc.templates[ns+"/"+ref.Name]; ok {
			return &w, ""
		}
		return nil, fmt.Sprintf("Its CapacityBuffer refers to the PodTemplate %s, which the namespace %s does not have; create it, or add it to the input.", ref.Name, ns)
	}
	ref := b.spec.ScalableRef
	if w, ok := scalables[workloadKey{ref.Kind, ns, ref.Name}]; ok {
		return w, ""
	}
	return nil, fmt.Sprintf("Its CapacityBuffer refers to the %s %s, which the namespace %s does not have; create it, or add it to the input.", ref.Kind, ref.Name, ns)
}

// size is how many pods the buffer has: the larger of replicas and percentage,
// or where neither is given as many as fit into the limits, which bound it in
// any case.
func (b *buffer) size(w *workload, requests cluster.Resources, rep *reporter) int64 {
	n := int64(-1)
	if b.spec.Replicas != nil {
		n = int64(*b.spec.Replicas)
	}
	if p := b.spec.Percentage; p != nil && b.spec.ScalableRef != nil {
		share := int64(0)
		if *p > 0 {
			share = max((w.replicas*int64(*p)+99)/100, 1)
		}
		n = max(n, share)
	}
	fit := b.fit(requests)
	switch {
	case n >= 0:
		return min(n, fit)
	case fit == math.MaxInt64:
		rep.warn("spec.limits", "limits nothing that the pods of the buffer ask for, so its size is not defined and it stays empty; set replicas")
		return 0
	}
	return fit
}

// fit is how many pods with these requests fit into the limits.
func (b *buffer) fit(requests cluster.Resources) int64 {
	fit := int64(math.MaxInt64)
	for _, limit := range b.limits {
		if need := requests.Get(limit.Name); need > 0 {
			fit = min(fit, limit.Amount/need)
		}
	}
	return fit
}

// pod is the i-th virtual pod of the buffer.
func (b *buffer) pod(proto cluster.Pod, i int64) cluster.Pod {
	proto.Name = "buffer-" + b.object.Name + "-" + strconv.FormatInt(i, 10)
	proto.Owner = cluster.Owner{Kind: "CapacityBuffer", Name: b.object.Name}
	proto.Virtual, proto.Gated = true, false
	proto.NodeName, proto.Phase, proto.Unschedulable = "", corev1.PodPending, true
	return proto
}
