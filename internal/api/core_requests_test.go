package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

const mi = int64(1) << 20

func TestPodRequests(t *testing.T) {
	cases := []struct {
		name, spec string
		status     string
		want       map[string]int64
	}{
		{"nothing asked for", oneContainer, "", map[string]int64{}},
		{"containers are added up", `
containers:
- {name: a, resources: {requests: {cpu: 100m, memory: 10Mi}}}
- {name: b, resources: {requests: {cpu: 250m}}}`, "",
			map[string]int64{"cpu": 350, "memory": 10 * mi}},
		{"a limit stands for a missing request", `
containers:
- {name: a, resources: {requests: {memory: 1Mi}, limits: {cpu: "2", memory: 4Mi}}}`, "",
			map[string]int64{"cpu": 2000, "memory": 1 * mi}},
		{"amounts are rounded up", `
containers:
- {name: a, resources: {requests: {cpu: 100u, memory: 1500m}}}`, "",
			map[string]int64{"cpu": 1, "memory": 2}},
		{"the largest init container counts when it is more", `
initContainers:
- {name: i, resources: {requests: {cpu: 50m, memory: 64Mi}}}
- {name: j, resources: {requests: {cpu: 400m, memory: 1Mi}}}
containers:
- {name: a, resources: {requests: {cpu: 100m, memory: 10Mi}}}
- {name: b, resources: {requests: {cpu: 100m, memory: 10Mi}}}`, "",
			map[string]int64{"cpu": 400, "memory": 64 * mi}},
		{"an init container counts with the sidecars before it", `
initContainers:
- {name: s, restartPolicy: Always, resources: {requests: {cpu: 100m}}}
- {name: i, resources: {requests: {cpu: 500m}}}
- {name: t, restartPolicy: Always, resources: {requests: {cpu: 200m}}}
containers:
- {name: a, resources: {requests: {cpu: 100m}}}`, "",
			map[string]int64{"cpu": 600}},
		{"sidecars run beside the containers", `
initContainers:
- {name: s, restartPolicy: Always, resources: {requests: {cpu: 100m}}}
- {name: t, restartPolicy: Always, resources: {requests: {cpu: 200m}}}
containers:
- {name: a, resources: {requests: {cpu: 400m}}}`, "",
			map[string]int64{"cpu": 700}},
		{"overhead is added", `
overhead: {cpu: 250m, memory: 120Mi}
containers:
- {name: a, resources: {requests: {cpu: 100m}}}`, "",
			map[string]int64{"cpu": 350, "memory": 120 * mi}},
		{"pod-level requests take the place of the sum", `
overhead: {cpu: 10m}
resources: {requests: {cpu: "1", memory: 100Mi}}
containers:
- {name: a, resources: {requests: {cpu: 100m, ephemeral-storage: 1Gi}}}`, "",
			map[string]int64{"cpu": 1010, "memory": 100 * mi, "ephemeral-storage": 1 << 30}},
		{"a pod-level limit alone leaves the containers' sum", `
resources: {limits: {cpu: "2", memory: 200Mi}}
containers:
- {name: a, resources: {requests: {cpu: 100m}}}`, "",
			map[string]int64{"cpu": 100, "memory": 200 * mi}},
		{"devices and hugepages", `
containers:
- {name: a, resources: {limits: {nvidia.com/gpu: "2", hugepages-2Mi: 64Mi, cpu: "1"}}}
- {name: b, resources: {requests: {nvidia.com/gpu: "1"}, limits: {nvidia.com/gpu: "1"}}}`, "",
			map[string]int64{"cpu": 1000, "nvidia.com/gpu": 3, "hugepages-2Mi": 64 * mi}},
		{"ephemeral containers ask for nothing", `
containers:
- {name: a, resources: {requests: {cpu: 100m}}}
ephemeralContainers:
- {name: debug, targetContainerName: a}`, "",
			map[string]int64{"cpu": 100}},
		{"a resize that is under way counts at its largest", `
containers:
- {name: a, resources: {requests: {cpu: 200m, memory: 10Mi}}}`, `
containerStatuses:
- {name: a, allocatedResources: {cpu: 300m, memory: 5Mi}, resources: {requests: {cpu: 100m, memory: 20Mi}}}`,
			map[string]int64{"cpu": 300, "memory": 20 * mi}},
		{"a resize that will never fit counts as what the pod has", `
containers:
- {name: a, resources: {requests: {cpu: "64"}}}`, `
conditions: [{type: PodResizePending, status: "True", reason: Infeasible}]
containerStatuses:
- {name: a, allocatedResources: {cpu: 300m}, resources: {requests: {cpu: 200m}}}`,
			map[string]int64{"cpu": 300}},
		{"an older server says so in a field", `
containers:
- {name: a, resources: {requests: {cpu: "64"}}}`, `
resize: Infeasible
containerStatuses:
- {name: a, resources: {requests: {cpu: 200m}}}`,
			map[string]int64{"cpu": 200}},
		{"a sidecar is resized too", `
initContainers:
- {name: s, restartPolicy: Always, resources: {requests: {cpu: 100m}}}
containers:
- {name: a}`, `
initContainerStatuses:
- {name: s, allocatedResources: {cpu: 300m}, resources: {requests: {cpu: 300m}}}`,
			map[string]int64{"cpu": 300}},
		{"pod-level resources are resized too", `
resources: {requests: {cpu: "1"}}
containers: [{name: a}]`, `
allocatedResources: {cpu: "2"}
resources: {requests: {cpu: "2"}}`,
			map[string]int64{"cpu": 2000}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			doc := podYAML("p", c.spec)
			if c.status != "" {
				doc += "status:\n" + indent(c.status, 2)
			}
			pod := onlyPod(t, mustReadCore(t, doc))
			if diff := cmp.Diff(cluster.ResourcesOf(c.want), pod.Requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodRequestsRefused(t *testing.T) {
	cases := []struct{ name, resources, path, says string }{
		{"negative", "{requests: {cpu: -100m}}", "spec.containers[0].resources.requests.cpu", "is negative"},
		{"beyond counting", "{requests: {memory: 16Ei}}", "spec.containers[0].resources.requests.memory", "more than can be counted"},
		{"cores beyond counting", "{requests: {cpu: 10E}}", "spec.containers[0].resources.requests.cpu", "more than can be counted"},
		{"no quantity", "{requests: {cpu: lots}}", "spec.containers[0].resources.requests.cpu", "lots"},
		{"half a device", `{limits: {nvidia.com/gpu: 500m}}`, `spec.containers[0].resources.limits["nvidia.com/gpu"]`, "cannot be divided"},
		{"no resource", "{requests: {memroy: 1Gi}}", "spec.containers[0].resources.requests.memroy", `did you mean "memory"?`},
		{"pods are no request", "{requests: {pods: 1}}", "spec.containers[0].resources.requests.pods", "no resource that can be asked for here"},
		{"request over limit", "{requests: {cpu: 2}, limits: {cpu: 1500m}}", "spec.containers[0].resources.requests.cpu", "the limit of 1500m"},
		{"device under limit", "{requests: {nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 2}}", `spec.containers[0].resources.requests["nvidia.com/gpu"]`, "must equal the limit of 2"},
		{"sums beyond counting", "{requests: {memory: 7Ei}}}\n- {name: b, resources: {requests: {memory: 7Ei}}", "spec.containers", "add up to more than can be counted"},
		{"pod-level storage", "{}}\nresources: {requests: {ephemeral-storage: 1Gi}", `spec.resources.requests.ephemeral-storage`, "no resource that can be asked for here"},
		{"pod-level below the containers", "{requests: {cpu: 2}}}\nresources: {requests: {cpu: 1}", `spec.resources.requests.cpu`, "ask for together, 2"},
		{"negative overhead", "{}}\noverhead: {cpu: -1", `spec.overhead.cpu`, "is negative"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			snap, rep := readCore(t, podYAML("p", "containers:\n- {name: a, resources: "+c.resources+"}\n"))
			if len(rep.errors) != 1 {
				t.Fatalf("errors: %q, want one", messages(rep))
			}
			e := rep.errors[0]
			if e.Path != c.path || !strings.Contains(e.Message, c.says) {
				t.Errorf("got %s: %s\nwant %s: …%s…", e.Path, e.Message, c.path, c.says)
			}
			if e.Object != "Pod/default/p" || e.File == "" || e.Document != 1 {
				t.Errorf("the error does not say where it stands: %+v", e)
			}
			if len(snap.Pods) != 0 {
				t.Errorf("a pod that was refused is in the snapshot")
			}
		})
	}
}

func TestPodAskingForMoreThanMachinesHave(t *testing.T) {
	snap := mustReadCore(t, podYAML("p", "containers:\n- {name: a, resources: {requests: {memory: 1Ei}}}\n"))
	pod := onlyPod(t, snap)
	if len(pod.Problems) != 1 || !strings.Contains(pod.Problems[0], "1024Pi of memory") {
		t.Errorf("problems: %q", pod.Problems)
	}
	if got := pod.Requests.Get(cluster.Memory); got != absurdAmount {
		t.Errorf("memory is %d, want it bounded by %d so that sums do not overflow", got, absurdAmount)
	}
}

func TestDeviceWithoutLimitIsAWarning(t *testing.T) {
	snap, rep := readCore(t, podYAML("p", "containers:\n- {name: a, resources: {requests: {nvidia.com/gpu: 1}}}\n"))
	if len(rep.errors) != 0 || len(rep.warnings) != 1 || !strings.Contains(rep.warnings[0], `requests["nvidia.com/gpu"]`) {
		t.Errorf("errors %q, warnings %q; want one warning", messages(rep), rep.warnings)
	}
	if got := onlyPod(t, snap).Requests.Get("nvidia.com/gpu"); got != 1 {
		t.Errorf("got %d devices, want 1", got)
	}
}

func TestTallyStopsAtTheLargestAmount(t *testing.T) {
	var sum tally
	sum.add(tally{{Name: "cpu", Amount: 1 << 62}})
	sum.add(tally{{Name: "cpu", Amount: 1 << 62}, {Name: "a", Amount: 1}})
	if got := sum.overflowed(); got != "cpu" {
		t.Errorf("overflowed() = %q, want cpu", got)
	}
	if diff := cmp.Diff([]string{"a", "cpu"}, names(sum.resources())); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func names(r cluster.Resources) []string {
	var out []string
	for _, x := range r {
		out = append(out, x.Name)
	}
	return out
}
