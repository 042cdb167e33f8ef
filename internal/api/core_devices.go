package api

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// deviceClaim is what a ResourceClaim, or a template of one, asks for.
type deviceClaim struct {
	devices   []cluster.DeviceRequest
	allocated bool
	problem   string // why a plan cannot serve it, "" when it can
}

type resourceClaimObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta                     `json:"metadata,omitempty"`
	Spec            resourcev1.ResourceClaimSpec `json:"spec"`
	Status          resourceClaimStatus          `json:"status,omitempty"`
}

type resourceClaimStatus struct {
	Allocation *struct{} `json:"allocation"`
}

// addResourceClaim keeps a claim for devices.
func (acc *coreAccumulator) addResourceClaim(o *Object, rep *reporter) {
	var from resourceClaimObject
	c := acc.read(o, &from, &from.Metadata, rep)
	claim := c.deviceClaim("spec.devices", &from.Spec.Devices)
	claim.allocated = from.Status.Allocation != nil
	if !c.clean() {
		return
	}
	if acc.claims == nil {
		acc.claims = make(map[string]deviceClaim)
	}
	acc.claims[o.Namespace+"/"+o.Name] = claim
}

type resourceClaimTemplateObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta                             `json:"metadata,omitempty"`
	Spec            resourcev1.ResourceClaimTemplateSpec `json:"spec"`
}

// addResourceClaimTemplate keeps a template of claims.
func (acc *coreAccumulator) addResourceClaimTemplate(o *Object, rep *reporter) {
	var from resourceClaimTemplateObject
	c := acc.read(o, &from, &from.Metadata, rep)
	claim := c.deviceClaim("spec.spec.devices", &from.Spec.Spec.Devices)
	if !c.clean() {
		return
	}
	if acc.claimTemplates == nil {
		acc.claimTemplates = make(map[string]deviceClaim)
	}
	acc.claimTemplates[o.Namespace+"/"+o.Name] = claim
}

// deviceClaim counts the devices of a claim by class. Where a request lists
// alternatives the first counts, which is the one that its author prefers.
func (c *conversion) deviceClaim(field string, d *resourcev1.DeviceClaim) deviceClaim {
	defer c.back(c.in(field))
	var out deviceClaim
	for i := range d.Requests {
		r := &d.Requests[i]
		back := c.at("requests", i)
		switch {
		case (r.Exactly == nil) == (len(r.FirstAvailable) == 0):
			c.bad("", "needs exactly one of exactly and firstAvailable")
		case r.Exactly == nil:
			c.at("firstAvailable", 0)
			first := &r.FirstAvailable[0]
			c.deviceRequest(&out, first.DeviceClassName, first.AllocationMode, first.Count)
		case r.Exactly.AdminAccess == nil || !*r.Exactly.AdminAccess: // an administrator's look takes no device away
			c.in("exactly")
			c.deviceRequest(&out, r.Exactly.DeviceClassName, r.Exactly.AllocationMode, r.Exactly.Count)
		}
		c.back(back)
	}
	return out
}

// deviceRequest counts one request.
func (c *conversion) deviceRequest(out *deviceClaim, class string, mode resourcev1.DeviceAllocationMode, count int64) {
	switch {
	case class == "":
		c.bad("deviceClassName", "names no DeviceClass")
	case mode == resourcev1.DeviceAllocationModeAll:
		out.problem = fmt.Sprintf("asks for all devices of class %s that a node has, which cannot be planned; ask for a count", class)
	case mode != "" && mode != resourcev1.DeviceAllocationModeExactCount:
		c.bad("allocationMode", "%q is not allowed; use ExactCount or All", mode)
	case count < 0 || count > absurdAmount:
		c.bad("count", "%d is not allowed; use 1 or more", count)
	default:
		out.devices = addDevice(out.devices, cluster.DeviceRequest{Class: class, Count: max(count, 1)})
	}
}

// addDevice adds to a list that is ordered by class. It keeps no reference to
// lists that others hold.
func addDevice(list []cluster.DeviceRequest, d cluster.DeviceRequest) []cluster.DeviceRequest {
	i, found := slices.BinarySearchFunc(list, d.Class, func(x cluster.DeviceRequest, class string) int {
		return strings.Compare(x.Class, class)
	})
	if found {
		list[i].Count += d.Count
		return list
	}
	return slices.Insert(list, i, d)
}

// resourceClaims checks the claims that a pod refers to.
func (c *conversion) resourceClaims(list []corev1.PodResourceClaim) []corev1.PodResourceClaim {
	for i := range list {
		r := &list[i]
		back := c.at("resourceClaims", i)
		if r.Name == "" {
			c.bad("name", "a claim needs a name")
		}
		if (r.ResourceClaimName == nil) == (r.ResourceClaimTemplateName == nil) {
			c.bad("", "needs exactly one of resourceClaimName and resourceClaimTemplateName")
		}
		c.back(back)
	}
	return list
}

// devices adds the devices of a pod's claims to the pod.
func (r *resolver) devices(pod *cluster.Pod, refs *podRefs) {
	for i := range refs.claims {
		ref := &refs.claims[i]
		claim, ok := r.deviceClaim(pod, ref, refs.claimStatuses)
		if !ok {
			continue
		}
		if claim.problem != "" {
			addProblem(pod, fmt.Sprintf("Its resource claim %q %s.", ref.Name, claim.problem))
			continue
		}
		for _, d := range claim.devices {
			pod.Devices = addDevice(pod.Devices, d)
		}
	}
}

// deviceClaim finds the claim behind a reference. Where there is none, or one
// that a pod without a node cannot use, it says so on the pod.
func (r *resolver) deviceClaim(pod *cluster.Pod, ref *corev1.PodResourceClaim, made []corev1.PodResourceClaimStatus) (deviceClaim, bool) {
	if ref.ResourceClaimName != nil {
		return r.namedClaim(pod, *ref.ResourceClaimName)
	}
	for i := range made {
		if made[i].Name != ref.Name {
			continue
		}
		if made[i].ResourceClaimName == nil {
			return deviceClaim{}, false // the pod turned out to need none
		}
		if claim, ok := r.acc.claims[pod.Namespace+"/"+*made[i].ResourceClaimName]; ok {
			return claim, true
		}
	}
	if ref.ResourceClaimTemplateName == nil {
		return deviceClaim{}, false // refused where it was read
	}
	claim, ok := r.acc.claimTemplates[pod.Namespace+"/"+*ref.ResourceClaimTemplateName]
	if !ok {
		addProblem(pod, fmt.Sprintf("It refers to the ResourceClaimTemplate %s, which the namespace %s does not have; create it, or add it to the input.", *ref.ResourceClaimTemplateName, pod.Namespace))
	}
	return claim, ok
}

// namedClaim finds a claim that stands by itself, which several pods may share.
// Pods that share one must run on the same node.
func (r *resolver) namedClaim(pod *cluster.Pod, name string) (deviceClaim, bool) {
	key := pod.Namespace + "/" + name
	claim, ok := r.acc.claims[key]
	switch {
	case !ok:
		addProblem(pod, fmt.Sprintf("It refers to the ResourceClaim %s, which the namespace %s does not have; create it, or add it to the input.", name, pod.Namespace))
	case pod.NodeName != "":
	case claim.allocated:
		addProblem(pod, fmt.Sprintf("Its ResourceClaim %s is allocated on a node already, so a new node cannot serve it; give the pod a claim of its own with a ResourceClaimTemplate.", name))
		return claim, false
	case r.claimUsers()[key] > 1:
		addProblem(pod, fmt.Sprintf("Its ResourceClaim %s is shared by several pods that wait, which cannot be planned; give each a claim of its own with a ResourceClaimTemplate.", name))
		return claim, false
	}
	return claim, ok
}

// claimUsers counts the pods without a node that name each claim.
func (r *resolver) claimUsers() map[string]int {
	if r.users != nil {
		return r.users
	}
	r.users = make(map[string]int)
	for _, p := range r.acc.pending {
		pod := &r.acc.pods[p.index]
		if pod.NodeName == "" && !phaseEnded(pod.Phase) {
			for i := range p.refs.claims {
				if name := p.refs.claims[i].ResourceClaimName; name != nil {
					r.users[pod.Namespace+"/"+*name]++
				}
			}
		}
	}
	return r.users
}
