package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// bufferYAML is a CapacityBuffer with a spec.
func bufferYAML(spec string) string {
	return "apiVersion: autoscaling.x-k8s.io/v1beta1\nkind: CapacityBuffer\nmetadata: {name: spare, namespace: shop}\nspec:\n" + indent(spec, 2)
}

const slotTemplate = `
apiVersion: v1
kind: PodTemplate
metadata: {name: slot, namespace: shop}
template:
  metadata: {labels: {app: slot}}
  spec: {containers: [{name: c, resources: {requests: {cpu: 500m, memory: 1Gi}}}]}
`

func TestBufferSizes(t *testing.T) {
	web := workloadYAML("Deployment", "web", "replicas: 11", "")
	const byTemplate, byScale = "podTemplateRef: {name: slot}\n", "scalableRef: {apiGroup: apps, kind: Deployment, name: web}\n"
	cases := []struct {
		name, spec string
		want       int
	}{
		{"replicas", byTemplate + "replicas: 3", 3},
		{"none", byTemplate + "replicas: 0", 0},
		{"as many as fit", byTemplate + "limits: {cpu: 3200m, memory: 10Gi}", 6},
		{"the lesser of replicas and limits", byTemplate + "replicas: 9\nlimits: {memory: 4Gi}", 4},
		{"a share, rounded up", byScale + "percentage: 20", 3},
		{"a small share is one", byScale + "percentage: 1", 1},
		{"no share", byScale + "percentage: 0", 0},
		{"the larger of share and replicas", byScale + "percentage: 50\nreplicas: 2", 6},
		{"replicas of a workload", byScale + "replicas: 2", 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			for _, p := range mustReadCore(t, bufferYAML(c.spec), slotTemplate, web).Pods {
				if p.Virtual {
					n++
				}
			}
			if n != c.want {
				t.Errorf("%d virtual pods, want %d", n, c.want)
			}
		})
	}
}

func TestBufferPods(t *testing.T) {
	snap := mustReadCore(t, slotTemplate, bufferYAML("provisioningStrategy: buffer.x-k8s.io/active-capacity\npodTemplateRef: {name: slot}\nreplicas: 2")+"status: {replicas: 2}\n")
	want := cluster.Pod{
		Namespace: "shop", Name: "buffer-spare-1", Labels: map[string]string{"app": "slot"},
		Owner: cluster.Owner{Kind: "CapacityBuffer", Name: "spare"},
		Phase: "Pending", Unschedulable: true, Virtual: true,
		Requests:      cluster.ResourcesOf(map[string]int64{"cpu": 500, "memory": 1 << 30}),
		SchedulerName: "default-scheduler",
	}
	if diff := cmp.Diff(want, snap.Pods[1]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"shop/buffer-spare-0", "shop/buffer-spare-1"}, keysOf(snap.Pods)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBufferWithoutItsTemplate(t *testing.T) {
	for _, spec := range []string{"podTemplateRef: {name: slot}\nreplicas: 2", "scalableRef: {kind: Deployment, name: web}\nreplicas: 2"} {
		p := onlyPod(t, mustReadCore(t, bufferYAML(spec)))
		if !p.Virtual || len(p.Problems) != 1 || !strings.Contains(p.Problems[0], "the namespace shop does not have") {
			t.Errorf("got %+v", p)
		}
	}
}

func TestBuffersPassedOver(t *testing.T) {
	for _, spec := range []string{
		"podTemplateRef: {name: slot}\nreplicas: 2\nprovisioningStrategy: buffer.gke.io/standby-capacity",
		"podTemplateRef: {name: slot}\nlimits: {ephemeral-storage: 1Gi}",
	} {
		snap, rep := readCore(t, slotTemplate, bufferYAML(spec))
		if len(snap.Pods) != 0 || len(rep.errors) != 0 || len(rep.warnings) != 1 {
			t.Errorf("%d pods, errors %q, warnings %q; want one warning", len(snap.Pods), messages(rep), rep.warnings)
		}
	}
}

func TestBuffersRefused(t *testing.T) {
	cases := []struct{ name, spec, path, says string }{
		{"no shape", "replicas: 1", "spec", "needs podTemplateRef or scalableRef"},
		{"two shapes", "replicas: 1\npodTemplateRef: {name: a}\nscalableRef: {kind: Deployment, name: b}", "spec", "keep one of the two"},
		{"no size", "podTemplateRef: {name: a}", "spec.replicas", "needs replicas or limits"},
		{"a share of no workload", "podTemplateRef: {name: a}\npercentage: 10", "spec.replicas", "needs replicas or limits"},
		{"no size of a workload", "scalableRef: {kind: Deployment, name: b}", "spec.percentage", "needs replicas, percentage or limits"},
		{"negative", "podTemplateRef: {name: a}\nreplicas: -1", "spec.replicas", "-1 is negative"},
		{"a negative share", "scalableRef: {kind: Deployment, name: b}\npercentage: -1", "spec.percentage", "-1 is negative"},
		{"a negative limit", "podTemplateRef: {name: a}\nlimits: {cpu: -1}", "spec.limits.cpu", "is negative"},
		{"a template without a name", "podTemplateRef: {}\nreplicas: 1", "spec.podTemplateRef.name", "names no PodTemplate"},
		{"an unknown field", "podTemplateRef: {name: a}\nreplica: 1\nlimits: {cpu: 1}", "spec.replica", `did you mean "replicas"?`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, rep := readCore(t, bufferYAML(c.spec))
			if len(rep.errors) != 1 || rep.errors[0].Path != c.path || !strings.Contains(rep.errors[0].Message, c.says) {
				t.Errorf("errors %q, want %s: …%s…", messages(rep), c.path, c.says)
			}
		})
	}
}

func TestBufferTooLarge(t *testing.T) {
	_, rep := readCore(t, slotTemplate, bufferYAML("podTemplateRef: {name: slot}\nreplicas: 2000000"))
	if len(rep.errors) != 1 || !strings.Contains(rep.errors[0].Message, "more than 1000000") {
		t.Errorf("errors %q", messages(rep))
	}
}
