package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// ownedPod is a pod of a controller.
func ownedPod(name, kind, owner, labels string) string {
	doc := "apiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name + "\n  namespace: shop\n  labels: {" + labels + "}\n"
	if kind != "" {
		doc += "  ownerReferences: [{apiVersion: x/v1, kind: " + kind + ", name: " + owner + ", uid: u, controller: true}]\n"
	}
	return doc + "spec: {containers: [{name: c}]}\n"
}

// under gives an object a controller.
func under(doc, kind, owner string) string {
	return strings.Replace(doc, ", namespace: shop}", ", namespace: shop, ownerReferences: [{apiVersion: x/v1, kind: "+kind+", name: "+owner+", uid: u, controller: true}]}", 1)
}

func TestWorkloadsWithPodsAreNotExpanded(t *testing.T) {
	web := workloadYAML("Deployment", "web", "replicas: 3", "")
	set := workloadYAML("ReplicaSet", "web-5d8f", "replicas: 3", "")
	job := workloadYAML("Job", "nightly-28000000", "", "")
	cron := strings.ReplaceAll(nightly, "SUSPEND", "false")
	cases := []struct {
		name string
		docs []string
		want []string // the pods of the input; nothing else may be there
	}{
		{"a Deployment by its ReplicaSet", []string{web, under(set, "Deployment", "web"), ownedPod("p", "ReplicaSet", "web-5d8f", "some: label")}, []string{"shop/p"}},
		{"a Deployment by the name of its ReplicaSet", []string{web, ownedPod("p", "ReplicaSet", "web-5d8f", "pod-template-hash: 5d8f")}, []string{"shop/p"}},
		{"a Deployment by its selector", []string{web, ownedPod("p", "ReplicaSet", "renamed", "app: web")}, []string{"shop/p"}},
		{"a Deployment by an orphan", []string{web, ownedPod("p", "", "", "app: web")}, []string{"shop/p"}},
		{"a ReplicaSet by its pod", []string{set, ownedPod("p", "ReplicaSet", "web-5d8f", "some: label")}, []string{"shop/p"}},
		{"a StatefulSet by its pod", []string{workloadYAML("StatefulSet", "db", "replicas: 3", ""), ownedPod("db-0", "StatefulSet", "db", "some: label")}, []string{"shop/db-0"}},
		{"a Job by its pod", []string{workloadYAML("Job", "train", "parallelism: 3", ""), ownedPod("p", "Job", "train", "some: label")}, []string{"shop/p"}},
		{"a Job by its finished pod", []string{workloadYAML("Job", "train", "parallelism: 3", ""), ownedPod("p", "Job", "train", "some: label") + "status: {phase: Succeeded}\n"}, []string{"shop/p"}},
		{"a CronJob by the name of its Job", []string{cron, ownedPod("p", "Job", "nightly-28000000", "some: label")}, []string{"shop/p"}},
		{"a CronJob by its Job and its pod", []string{cron, under(job, "CronJob", "nightly"), ownedPod("p", "Job", "nightly-28000000", "some: label")}, []string{"shop/p"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, docs := range [][]string{c.docs, reversed(c.docs)} {
				if diff := cmp.Diff(c.want, keysOf(mustReadCore(t, docs...).Pods)); diff != "" {
					t.Errorf("pods (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestWorkloadsWithoutPodsAreExpanded(t *testing.T) {
	web := workloadYAML("Deployment", "web", "replicas: 3", "")
	set := workloadYAML("ReplicaSet", "web-5d8f", "replicas: 3", "")
	cases := []struct {
		name string
		docs []string
		want int // pods in all
	}{
		{"a ReplicaSet leaves its pods to its Deployment", []string{web, under(set, "Deployment", "web")}, 3},
		{"a ReplicaSet whose Deployment is not there", []string{under(set, "Deployment", "web")}, 3},
		{"a Job stands for the run of its CronJob", []string{strings.ReplaceAll(nightly, "SUSPEND", "false"), under(workloadYAML("Job", "nightly-1", "", ""), "CronJob", "nightly")}, 1},
		{"pods of another namespace", []string{web, strings.ReplaceAll(ownedPod("p", "", "", "app: web"), "shop", "zoo")}, 4},
		{"pods of another controller", []string{web, ownedPod("p", "Job", "other", "app: web")}, 4},
		{"pods of another Deployment", []string{web, under(workloadYAML("ReplicaSet", "api-1", "replicas: 1", ""), "Deployment", "api"), ownedPod("p", "ReplicaSet", "api-1", "app: web")}, 4},
		{"an orphan that fits in part", []string{web, ownedPod("p", "", "", "app: web2")}, 4},
		{"a name that is like another's", []string{workloadYAML("Deployment", "web", "replicas: 1", ""), ownedPod("p", "ReplicaSet", "web-api-77", "pod-template-hash: \"77\"")}, 2},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, docs := range [][]string{c.docs, reversed(c.docs)} {
				if got := mustReadCore(t, docs...).Pods; len(got) != c.want {
					t.Errorf("%d pods %q, want %d", len(got), keysOf(got), c.want)
				}
			}
		})
	}
}

func TestSelectorWithoutLabelsFindsPods(t *testing.T) {
	doc := strings.Replace(workloadYAML("Deployment", "web", "replicas: 3", ""), "{matchLabels: {app: web}}", "{matchExpressions: [{key: app, operator: In, values: [web, www]}]}", 1)
	if got := mustReadCore(t, doc, ownedPod("p", "", "", "app: www")).Pods; len(got) != 1 {
		t.Errorf("%d pods, want the one of the input", len(got))
	}
	if got := mustReadCore(t, doc, ownedPod("p", "", "", "app: other")).Pods; len(got) != 4 {
		t.Errorf("%d pods, want 4", len(got))
	}
}

func reversed(docs []string) []string {
	out := make([]string, 0, len(docs))
	for i := len(docs) - 1; i >= 0; i-- {
		out = append(out, docs[i])
	}
	return out
}
