package api

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// workloadYAML is an object with a selector and a template that fit; more are
// lines of its spec, and podSpec lines of the pods' spec.
func workloadYAML(kind, name, more, podSpec string) string {
	group := "apps/v1"
	selector := "  selector: {matchLabels: {app: " + name + "}}\n"
	if kind == "Job" {
		group, selector = "batch/v1", ""
	}
	return "apiVersion: " + group + "\nkind: " + kind + "\nmetadata: {name: " + name + ", namespace: shop}\nspec:\n" + selector + indent(more, 2) +
		"  template:\n    metadata: {labels: {app: " + name + "}}\n    spec:\n      containers: [{name: c, resources: {requests: {cpu: 100m}}}]\n" + indent(podSpec, 6)
}

func TestDeploymentIsExpanded(t *testing.T) {
	snap := mustReadCore(t, workloadYAML("Deployment", "web", "replicas: 3", "priorityClassName: system-node-critical"))
	if len(snap.Pods) != 3 {
		t.Fatalf("%d pods, want 3", len(snap.Pods))
	}
	p := &snap.Pods[0]
	hash := p.Labels["pod-template-hash"]
	if len(hash) != 10 {
		t.Errorf("pod-template-hash %q, want 10 characters", hash)
	}
	want := cluster.Pod{
		Namespace: "shop", Name: p.Name,
		Labels: map[string]string{"app": "web", "pod-template-hash": hash},
		Owner:  cluster.Owner{Kind: "ReplicaSet", Name: "web-" + hash},
		Phase:  corev1.PodPending, Unschedulable: true,
		Requests:          cluster.ResourcesOf(map[string]int64{"cpu": 100}),
		SchedulerName:     corev1.DefaultSchedulerName,
		Priority:          2000001000,
		PriorityClassName: "system-node-critical",
	}
	if diff := cmp.Diff(want, *p); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	seen := map[string]bool{}
	for i := range snap.Pods {
		name := snap.Pods[i].Name
		if seen[name] || !strings.HasPrefix(name, "web-") || len(name) != len("web-")+5 {
			t.Errorf("pod %d is called %q", i, name)
		}
		seen[name] = true
		if &snap.Pods[i].Requests[0] != &p.Requests[0] {
			t.Errorf("pod %d does not share its requests", i)
		}
	}
}

func TestExpansionIsTheSameEachTime(t *testing.T) {
	docs := []string{workloadYAML("Deployment", "web", "replicas: 3", ""), workloadYAML("Job", "web", "parallelism: 2", ""), workloadYAML("StatefulSet", "web", "replicas: 2", "")}
	if diff := cmp.Diff(mustReadCore(t, docs...).Pods, mustReadCore(t, docs...).Pods); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
}

func TestPodCounts(t *testing.T) {
	cases := []struct {
		name, kind, spec, status string
		want                     int
	}{
		{"nothing said is one", "Deployment", "", "", 1},
		{"none", "Deployment", "replicas: 0", "", 0},
		{"a ReplicaSet", "ReplicaSet", "replicas: 2", "", 2},
		{"a StatefulSet", "StatefulSet", "replicas: 2", "", 2},
		{"a Job", "Job", "", "", 1},
		{"as many as run at once", "Job", "parallelism: 3\ncompletions: 10", "", 3},
		{"no more than are left", "Job", "parallelism: 3\ncompletions: 10", "{succeeded: 8}", 2},
		{"a work queue", "Job", "parallelism: 3", "", 3},
		{"all are done", "Job", "parallelism: 3\ncompletions: 2", "{succeeded: 2}", 0},
		{"complete", "Job", "parallelism: 3", `{conditions: [{type: Complete, status: "True"}]}`, 0},
		{"failed", "Job", "parallelism: 3", `{conditions: [{type: Failed, status: "True"}]}`, 0},
		{"suspended", "Job", "parallelism: 3\nsuspend: true", "", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			doc := workloadYAML(c.kind, "web", c.spec, "")
			if c.status != "" {
				doc += "status: " + c.status + "\n"
			}
			if got := len(mustReadCore(t, doc).Pods); got != c.want {
				t.Errorf("%d pods, want %d", got, c.want)
			}
		})
	}
}

func TestStatefulSetMembers(t *testing.T) {
	doc := workloadYAML("StatefulSet", "db", `
replicas: 2
ordinals: {start: 3}
serviceName: db
volumeClaimTemplates:
- {metadata: {name: data}, spec: {storageClassName: fast, accessModes: [ReadWriteOnce]}, status: {phase: Pending}}
- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: logs, creationTimestamp: null}, spec: {}}
`, `
volumes:
- {name: data, emptyDir: {}}
- {name: tmp, ephemeral: {volumeClaimTemplate: {spec: {}}}}
topologySpreadConstraints:
- {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {}, matchLabelKeys: [app]}
affinity:
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
    - {topologyKey: kubernetes.io/hostname, labelSelector: {}, matchLabelKeys: [apps.kubernetes.io/pod-index]}
`)
	claim := func(name string) string {
		return "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " + name + ", namespace: shop}\nspec: {}\n"
	}
	snap := mustReadCore(t, doc, claim("data-db-3"), claim("db-4-tmp"))
	if diff := cmp.Diff([]string{"shop/db-3", "shop/db-4"}, keysOf(snap.Pods)); diff != "" {
		t.Fatalf("names (-want +got):\n%s", diff)
	}
	wantVolumes := [][]cluster.Volume{
		{{Ephemeral: true}, {Claim: "data-db-3"}, {Ephemeral: true}},
		{{Claim: "db-4-tmp"}, {Ephemeral: true, StorageClass: "fast"}, {Ephemeral: true}},
	}
	for i := range snap.Pods {
		p := &snap.Pods[i]
		if diff := cmp.Diff(wantVolumes[i], p.Volumes); diff != "" {
			t.Errorf("volumes of %s (-want +got):\n%s", p.Name, diff)
		}
		n := strconv.Itoa(3 + i)
		want := map[string]string{
			"app": "db", "statefulset.kubernetes.io/pod-name": "db-" + n, "apps.kubernetes.io/pod-index": n,
			"controller-revision-hash": p.Labels["controller-revision-hash"],
		}
		if diff := cmp.Diff(want, p.Labels); diff != "" {
			t.Errorf("labels of %s (-want +got):\n%s", p.Name, diff)
		}
		own := p.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions
		if len(own) != 1 || own[0].Values[0] != n {
			t.Errorf("%s takes no value of its own into its selector: %v", p.Name, own)
		}
		if got := p.Spread[0].LabelSelector.MatchExpressions; len(got) != 1 || got[0].Values[0] != "db" {
			t.Errorf("spread selector of %s: %v", p.Name, got)
		}
		if diff := cmp.Diff(cluster.Owner{Kind: "StatefulSet", Name: "db"}, p.Owner); diff != "" {
			t.Errorf("owner (-want +got):\n%s", diff)
		}
	}
	if !strings.HasPrefix(snap.Pods[0].Labels["controller-revision-hash"], "db-") {
		t.Errorf("labels %v", snap.Pods[0].Labels)
	}
}

func TestJobPods(t *testing.T) {
	snap := mustReadCore(t, workloadYAML("Job", "train", "parallelism: 2\ncompletions: 2\ncompletionMode: Indexed", "restartPolicy: Never"))
	for i := range snap.Pods {
		p := &snap.Pods[i]
		n := strconv.Itoa(i)
		want := map[string]string{"app": "train", "job-name": "train", "batch.kubernetes.io/job-name": "train", "batch.kubernetes.io/job-completion-index": n}
		if diff := cmp.Diff(want, p.Labels); diff != "" {
			t.Errorf("labels (-want +got):\n%s", diff)
		}
		if !strings.HasPrefix(p.Name, "train-"+n+"-") || p.Owner != (cluster.Owner{Kind: "Job", Name: "train"}) {
			t.Errorf("pod %s of %v", p.Name, p.Owner)
		}
	}
}

const nightly = `
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: shop}
spec:
  schedule: "0 3 * * *"
  suspend: SUSPEND
  jobTemplate:
    metadata: {labels: {team: a}}
    spec:
      parallelism: 2
      template: {metadata: {labels: {app: nightly}}, spec: {restartPolicy: Never, containers: [{name: c}]}}
`

func TestCronJobIsOneRun(t *testing.T) {
	snap, rep := readCore(t, strings.ReplaceAll(nightly, "SUSPEND", "false"))
	if len(rep.errors) > 0 || len(snap.Pods) != 2 {
		t.Fatalf("errors %q, %d pods, want 2", messages(rep), len(snap.Pods))
	}
	if len(rep.warnings) != 1 || !strings.Contains(rep.warnings[0], "CronJob/shop/nightly: is planned as one run") {
		t.Errorf("warnings %q", rep.warnings)
	}
	p := &snap.Pods[0]
	if p.Owner.Kind != "Job" || !strings.HasPrefix(p.Owner.Name, "nightly-") || !strings.HasPrefix(p.Name, p.Owner.Name+"-") || p.Labels["job-name"] != p.Owner.Name {
		t.Errorf("pod %s of %v with %v", p.Name, p.Owner, p.Labels)
	}
	if snap, rep := readCore(t, strings.ReplaceAll(nightly, "SUSPEND", "true")); len(snap.Pods)+len(rep.warnings) > 0 {
		t.Errorf("a suspended CronJob makes %d pods", len(snap.Pods))
	}
}

func TestDaemonSetTemplate(t *testing.T) {
	snap := mustReadCore(t, workloadYAML("DaemonSet", "agent", "", `
hostNetwork: true
runtimeClassName: kata
tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}, {key: mine, operator: Exists}]
nodeSelector: {kubernetes.io/os: linux}
`))
	if len(snap.Pods) != 0 || len(snap.DaemonSets) != 1 {
		t.Fatalf("%d pods and %d daemon sets", len(snap.Pods), len(snap.DaemonSets))
	}
	d := &snap.DaemonSets[0]
	if d.Namespace != "shop" || d.Name != "agent" || d.Template.Name != "" || d.Template.Namespace != "shop" ||
		d.Template.Owner != (cluster.Owner{Kind: "DaemonSet", Name: "agent"}) || d.Template.Labels["app"] != "agent" {
		t.Errorf("got %+v", d)
	}
	var keys []string
	for _, x := range d.Template.Tolerations {
		keys = append(keys, strings.TrimPrefix(x.Key, "node.kubernetes.io/")+":"+string(x.Effect))
	}
	want := []string{"not-ready:NoExecute", "mine:", "unreachable:NoExecute", "disk-pressure:NoSchedule", "memory-pressure:NoSchedule",
		"pid-pressure:NoSchedule", "unschedulable:NoSchedule", "network-unavailable:NoSchedule"}
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("tolerations (-want +got):\n%s", diff)
	}
	if len(d.Template.Problems) != 1 || !strings.Contains(d.Template.Problems[0], "RuntimeClass kata") {
		t.Errorf("problems %q", d.Template.Problems)
	}
	if diff := cmp.Diff(map[string]string{cluster.LabelOS: "linux"}, d.Template.NodeSelector); diff != "" {
		t.Errorf("selector (-want +got):\n%s", diff)
	}
}

func TestRollingSpreadOfADeployment(t *testing.T) {
	snap := mustReadCore(t, workloadYAML("Deployment", "web", "", `
topologySpreadConstraints:
- {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [pod-template-hash]}
`))
	p := onlyPod(t, snap)
	got := p.Spread[0].LabelSelector.MatchExpressions
	if len(got) != 1 || got[0].Key != "pod-template-hash" || got[0].Values[0] != p.Labels["pod-template-hash"] {
		t.Errorf("selector %v of a pod with labels %v", got, p.Labels)
	}
}

func TestWorkloadsRefused(t *testing.T) {
	cases := []struct{ name, doc, path, says string }{
		{"a selector of other pods", strings.Replace(workloadYAML("Deployment", "web", "", ""), "matchLabels: {app: web}", "matchLabels: {app: api}", 1), "spec.selector", "does not match"},
		{"an empty selector", strings.Replace(workloadYAML("Deployment", "web", "", ""), "{matchLabels: {app: web}}", "{}", 1), "spec.selector", "does not match"},
		{"a negative number", workloadYAML("Deployment", "web", "replicas: -1", ""), "spec.replicas", "-1 is negative"},
		{"a mistake in the template", workloadYAML("StatefulSet", "web", "", "tolerations: [{operator: Has}]"), "spec.template.spec.tolerations[0].operator", "is not allowed"},
		{"a mistake in a Job's template", workloadYAML("Job", "web", "", "nodeSelector: {a: [b]}"), "spec.template.spec.nodeSelector.a", "must be a string"},
		{"a claim template without a name", workloadYAML("StatefulSet", "web", "volumeClaimTemplates: [{spec: {}}]", ""), "spec.volumeClaimTemplates[0].metadata.name", "is missing"},
		{"a CronJob that never runs", strings.Replace(strings.ReplaceAll(nightly, "SUSPEND", "false"), `"0 3 * * *"`, `""`, 1), "spec.schedule", "five cron fields"},
		{"a mistake in a CronJob's template", strings.Replace(strings.ReplaceAll(nightly, "SUSPEND", "false"), "parallelism: 2", "parallelism: -2", 1), "spec.jobTemplate.spec.parallelism", "is negative"},
		{"more pods than a plan takes", workloadYAML("Deployment", "web", "replicas: 2000000", ""), "spec.replicas", "more than 1000000 in all"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, rep := readCore(t, c.doc)
			if len(rep.errors) != 1 || rep.errors[0].Path != c.path || !strings.Contains(rep.errors[0].Message, c.says) {
				t.Errorf("errors %q, want %s: …%s…", messages(rep), c.path, c.says)
			}
		})
	}
}

func TestManyWorkloadsTogetherAreTooMany(t *testing.T) {
	snap, rep := readCore(t, workloadYAML("Deployment", "a", "replicas: 600", ""), workloadYAML("Deployment", "b", "replicas: 999500", ""))
	if len(rep.errors) != 1 || rep.errors[0].Object != "Deployment/shop/b" || rep.errors[0].Document != 2 {
		t.Errorf("errors %v, want one of the second Deployment", rep.errors)
	}
	if len(snap.Pods) != 600 {
		t.Errorf("%d pods, want 600", len(snap.Pods))
	}
}

func TestMissingSelectorIsAWarning(t *testing.T) {
	snap, rep := readCore(t, strings.Replace(workloadYAML("Deployment", "web", "", ""), "selector: {matchLabels: {app: web}}", "paused: false", 1))
	if len(rep.errors) != 0 || len(rep.warnings) != 1 || len(snap.Pods) != 1 {
		t.Errorf("errors %q, warnings %q, %d pods", messages(rep), rep.warnings, len(snap.Pods))
	}
}

func TestSuffixesNeverRepeat(t *testing.T) {
	seen := make(map[string]bool, 4*300_000)
	for _, kind := range suffixKinds {
		s := suffixesOf(workloadKey{kind, "shop", "web"})
		for i := range int64(300_000) {
			name := s.at(i)
			if seen[name] {
				t.Fatalf("%s %d: %q was given out before", kind, i, name)
			}
			if len(name) != 5 || name[0] < 'a' || name[0] > 'z' {
				t.Fatalf("%q does not look like a suffix", name)
			}
			seen[name] = true
		}
	}
}
