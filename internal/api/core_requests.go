package api

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// containerStatus is the part of a container's status that an in-place resize
// is told by.
type containerStatus struct {
	Name               string                       `json:"name"`
	AllocatedResources corev1.ResourceList          `json:"allocatedResources"`
	Resources          *corev1.ResourceRequirements `json:"resources"`
}

// requests applies the Kubernetes rule: what runs together is added up, an
// init container counts with the sidecars that were started before it, and the
// larger of the start and the run is the request. Pod-level resources take the
// place of that sum where they are set. Overhead is not part of it.
func (c *conversion) requests(spec *corev1.PodSpec, status *podStatus) tally {
	var running, start, sidecars tally
	for i := range spec.Containers {
		back := c.at("containers", i)
		running.add(c.containerRequests(&spec.Containers[i], status, status.ContainerStatuses))
		c.back(back)
	}
	for i := range spec.InitContainers {
		back := c.at("initContainers", i)
		init := &spec.InitContainers[i]
		if isSidecar(init) {
			sidecars.add(c.containerRequests(init, status, status.InitContainerStatuses))
			start.max(sidecars)
		} else {
			need := c.containerRequests(init, status, nil)
			need.add(sidecars)
			start.max(need)
		}
		c.back(back)
	}
	running.add(sidecars)
	running.max(start)
	if spec.Resources != nil {
		c.podLevel(&running, spec.Resources, status)
	}
	return running
}

// isSidecar tells whether an init container keeps running beside the others.
func isSidecar(k *corev1.Container) bool {
	return k.RestartPolicy != nil && *k.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// containerRequests is what one container asks for: its requests, its limits
// where it states no request, and for a running one that is being resized the
// largest of what it wants, was given and has.
func (c *conversion) containerRequests(k *corev1.Container, status *podStatus, statuses []containerStatus) tally {
	want := c.requirements(&k.Resources, isContainerResource)
	for i := range statuses {
		s := &statuses[i]
		if s.Name == k.Name && s.Resources != nil {
			return resized(want, s.Resources.Requests, s.AllocatedResources, status.resizeInfeasible())
		}
	}
	return want
}

// podLevel puts spec.resources in the place of the containers' sum. A resource
// with a limit alone keeps the containers' sum where they name it, which is how
// the API server fills in the request.
func (c *conversion) podLevel(sum *tally, r *corev1.ResourceRequirements, status *podStatus) {
	level := c.requirements(r, isPodResource)
	if status.Resources != nil {
		level = resized(level, status.Resources.Requests, status.AllocatedResources, status.resizeInfeasible())
	}
	for _, x := range level {
		_, stated := r.Requests[corev1.ResourceName(x.Name)]
		total, summed := sum.get(x.Name)
		if stated && x.Amount < total && len(status.ContainerStatuses) == 0 {
			c.bad(key("resources.requests", x.Name), "is less than the containers ask for together, %s; raise it", cluster.FormatAmount(x.Name, total))
		}
		if stated || !summed || strings.HasPrefix(x.Name, corev1.ResourceHugePagesPrefix) {
			sum.set(x.Name, x.Amount)
		}
	}
}

// resized is the request of something that runs: the largest of the wanted, the
// allocated and the actual amount, without the wanted when the kubelet has
// found that it will never fit. The status is the cluster's own, so amounts in
// it that make no sense are passed over.
func resized(want tally, actual, allocated corev1.ResourceList, infeasible bool) tally {
	var has tally
	for _, list := range [...]corev1.ResourceList{actual, allocated} {
		for name, q := range list {
			if amount, problem := podAmount(string(name), q); problem == "" {
				has.max(tally{{Name: string(name), Amount: amount}})
			}
		}
	}
	if infeasible {
		for _, x := range has {
			want.set(x.Name, x.Amount)
		}
		return want
	}
	want.max(has)
	return want
}

// requirements checks the resources block of a container or pod and returns its
// requests, with the limits where a request is missing.
func (c *conversion) requirements(r *corev1.ResourceRequirements, allowed func(string) bool) tally {
	if len(r.Requests) == 0 && len(r.Limits) == 0 {
		return nil
	}
	defer c.back(c.in("resources"))
	want := c.amounts("requests", r.Requests, allowed)
	limits := c.amounts("limits", r.Limits, allowed)
	for _, x := range want {
		c.checkLimit(x, limits)
	}
	for _, limit := range limits {
		if _, ok := want.get(limit.Name); !ok {
			want = append(want, limit)
		}
	}
	return want
}

// checkLimit compares a request with the limit of the same resource. A device
// without a limit is refused by the API server, while what is meant is plain:
// that is a warning.
func (c *conversion) checkLimit(want cluster.Resource, limits tally) {
	limit, ok := limits.get(want.Name)
	switch {
	case !ok && cannotOvercommit(want.Name):
		c.odd(key("requests", want.Name), "needs a limit of the same amount, or the API server refuses the pod")
	case !ok:
	case want.Amount > limit:
		c.bad(key("requests", want.Name), "the request is larger than the limit of %s; raise the limit or lower the request",
			cluster.FormatAmount(want.Name, limit))
	case want.Amount < limit && cannotOvercommit(want.Name):
		c.bad(key("requests", want.Name), "the request must equal the limit of %s, because %s cannot be overcommitted",
			cluster.FormatAmount(want.Name, limit), want.Name)
	}
}

// amounts converts the resource list in a field and reports what cannot be used.
func (c *conversion) amounts(field string, list corev1.ResourceList, allowed func(string) bool) tally {
	if len(list) == 0 {
		return nil
	}
	out := make(tally, 0, len(list)+1)
	for _, name := range sortedKeys(list) {
		n := string(name)
		if !allowed(n) {
			c.bad(key(field, n), "is no resource that can be asked for here; %s; hugepages-SIZE and devices with a domain, such as nvidia.com/gpu, are allowed too", suggest(n, containerResources))
			continue
		}
		amount, problem := podAmount(n, list[name])
		if problem != "" {
			c.bad(key(field, n), "%s", problem)
			continue
		}
		out = append(out, cluster.Resource{Name: n, Amount: amount})
	}
	return out
}

// settle checks the sum of a pod's requests and gives it its final form.
func (c *conversion) settle(sum tally) cluster.Resources {
	if name := sum.overflowed(); name != "" {
		c.bad("containers", "the requests of %s add up to more than can be counted; lower them", name)
		return nil
	}
	for i := range sum {
		if x := &sum[i]; x.Amount > absurdAmount {
			c.problem("It asks for %s of %s, which no machine has; lower the requests of its containers.", cluster.FormatAmount(x.Name, x.Amount), x.Name)
			x.Amount = absurdAmount
		}
	}
	return sum.resources()
}
