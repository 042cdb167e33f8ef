package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestPlanLeavesOutWhatRefersToNothing: a pod that names what is not there is
// left out with that reason, and the others are planned.
func TestPlanLeavesOutWhatRefersToNothing(t *testing.T) {
	input := goodPool + pendingPod("fine", "1", "") +
		pendingPod("no-claim", "1", "  volumes: [{name: v, persistentVolumeClaim: {claimName: gone}}]\n") +
		pendingPod("no-class", "1", "  volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]\n") +
		"---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}\n" +
		pendingPod("no-priority", "1", "  priorityClassName: urgent\n") +
		pendingPod("no-runtime", "1", "  runtimeClassName: gvisor\n") +
		pendingPod("too-large", "100000", "")
	doc, got := planJSON(t, input, withCatalog(t))
	if got.code != exitOK || doc.Summary.Scheduled != 1 {
		t.Errorf("exit code %d, %d pods planned, want 0 and 1", got.code, doc.Summary.Scheduled)
	}
	reasons := map[string]string{}
	for _, u := range doc.Unschedulable {
		reasons[u.Pod] = strings.Join(u.Reasons, "\n")
	}
	for pod, says := range map[string]string{
		"shop/no-claim":    `PersistentVolumeClaim "gone" is not in namespace "shop"`,
		"shop/no-class":    `StorageClass "fast", which is not there`,
		"shop/no-priority": "PriorityClass urgent, which is not there",
		"shop/no-runtime":  "RuntimeClass gvisor, which is not there",
		"shop/too-large":   "100000 cores; the largest instance type has",
	} {
		if !strings.Contains(reasons[pod], says) {
			t.Errorf("of %s is said %q, want %q", pod, reasons[pod], says)
		}
	}
	if len(doc.Unschedulable) != 5 {
		t.Errorf("%d pods are left out, want 5", len(doc.Unschedulable))
	}
	got = command(input, "plan", "-f", "-", withCatalog(t), "--fail-on-unschedulable")
	if got.code != exitLeftOut || !strings.Contains(got.errors, "5 pods left out") {
		t.Errorf("exit code %d, says %q", got.code, got.errors)
	}
}

// TestPlanRefusesBadInput: what cannot be planned ends with 2 and with what to
// do about it.
func TestPlanRefusesBadInput(t *testing.T) {
	overlay := func(name string) string {
		return "---\n{apiVersion: karpenter.sh/v1alpha1, kind: NodeOverlay, metadata: {name: " + name + "}, spec: {price: '1', requirements: []}}\n"
	}
	for _, c := range []struct{ name, input, says string }{
		{"the only NodePool is not valid", strings.Replace(goodPool, "kubernetes.io/os", "kubernetes.io/hostname", 1) + pendingPod("a", "1", ""), "kubernetes.io/hostname may not be used"},
		{"a negative quantity", pendingPod("a", "-1", ""), `"-1" is negative; use 0 or more`},
		{"a quantity beyond counting", pendingPod("a", "1e99", ""), "more than can be counted"},
		{"a quantity that takes for ever", pendingPod("a", "1e2147483647", ""), "write it without an exponent"},
		{"a quantity that is none", pendingPod("a", "lots", ""), "is not a quantity; write a number"},
		{"an overlay conflict", pendingPod("a", "1", "") + overlay("one") + overlay("two"), "give one of them a higher weight"},
		{"nothing but comments", "# nothing\n---\n", "the input is empty: give Pods"},
		{"one key many times", strings.Repeat("a: b\n", 300_000), "299899 more mistakes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := command(c.input, "plan", "-f", "-")
			if got.code != exitBadInput || got.out != "" || !strings.Contains(got.errors, c.says) {
				t.Errorf("exit code %d, want %d with %q\n%s%.2000s", got.code, exitBadInput, c.says, got.out, got.errors)
			}
		})
	}
}

// TestPlanForms: what kubectl prints goes in as it is, in every form.
func TestPlanForms(t *testing.T) {
	const item = `apiVersion: v1
  kind: Pod
  metadata:
    creationTimestamp: "2026-01-01T00:00:00Z"
    managedFields:
    - apiVersion: v1
      fieldsType: FieldsV1
      fieldsV1:
        f:spec: {}
      manager: kubectl
    name: NAME
    namespace: shop
    resourceVersion: "1"
    uid: 0b7c
  spec:
    containers:
    - image: i
      name: c
      resources:
        requests:
          cpu: 500m
          memory: 1.5Gi
  status:
    conditions:
    - message: |-
        0/3 nodes are available.
      reason: Unschedulable
      status: "False"
      type: PodScheduled
    phase: Pending
    qosClass: Burstable
`
	list := "apiVersion: v1\nitems:\n- " + strings.Replace(item, "NAME", "a", 1) + "- " + strings.Replace(item, "NAME", "b", 1) + "kind: List\nmetadata:\n  resourceVersion: \"\"\n"
	object := func(name string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"` + name + `","namespace":"shop"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"500m"}}}]},"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}}`
	}
	pool := filepath.Join(tree(t, map[string]string{"pool.yaml": goodPool}), "pool.yaml")
	for name, input := range map[string]string{
		"List":                 list,
		"line ends of Windows": strings.ReplaceAll(list, "\n", "\r\n"),
		"byte order mark":      "\uFEFF" + list,
		"JSON List":            `{"apiVersion":"v1","kind":"List","items":[` + object("a") + "," + object("b") + "]}",
		"JSON in a row":        object("a") + object("b"),
		"JSON lines":           object("a") + "\r\n" + object("b") + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			doc, got := planJSON(t, input, "-f", pool, withCatalog(t))
			if got.code != exitOK || doc.Summary.Scheduled != 2 || len(doc.Warnings) > 0 {
				t.Errorf("exit code %d, %d pods planned, want 2: %s %q", got.code, doc.Summary.Scheduled, got.errors, doc.Warnings)
			}
		})
	}
}
