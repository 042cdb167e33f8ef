package api

import (
	"fmt"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// livePod is a pod of a Deployment about as kubectl prints it.
const livePod = `
apiVersion: v1
kind: Pod
metadata:
  name: NAME
  namespace: shop
  uid: 00000000-0000-0000-0000-000000000000
  resourceVersion: "12345"
  creationTimestamp: "2026-01-31T12:00:00Z"
  generateName: web-5d8f7c9b4-
  labels: {app: web, pod-template-hash: 5d8f7c9b4, tier: front}
  annotations: {kubernetes.io/psp: eks.privileged, prometheus.io/scrape: "true"}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-5d8f7c9b4, uid: u, controller: true, blockOwnerDeletion: true}]
  managedFields:
  - manager: kube-controller-manager
    operation: Update
    apiVersion: v1
    time: "2026-01-31T12:00:00Z"
    fieldsType: FieldsV1
    fieldsV1: {"f:metadata": {"f:labels": {".": {}, "f:app": {}, "f:tier": {}}, "f:ownerReferences": {".": {}}}, "f:spec": {"f:containers": {'k:{"name":"web"}': {".": {}, "f:image": {}, "f:name": {}, "f:resources": {".": {}, "f:limits": {}, "f:requests": {}}}}, "f:dnsPolicy": {}, "f:restartPolicy": {}, "f:schedulerName": {}}}
spec:
  containers:
  - name: web
    image: registry.example.com/shop/web:v1.2.3
    imagePullPolicy: IfNotPresent
    env: [{name: A, value: b}, {name: B, valueFrom: {secretKeyRef: {name: s, key: k}}}]
    ports: [{name: http, containerPort: 8080, protocol: TCP}]
    resources: {limits: {memory: 512Mi}, requests: {cpu: 250m, memory: 256Mi}}
    livenessProbe: {httpGet: {path: /, port: 8080, scheme: HTTP}, periodSeconds: 10, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3}
    volumeMounts: [{name: kube-api-access-abcde, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}]
    terminationMessagePath: /dev/termination-log
    terminationMessagePolicy: File
  affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, podAffinityTerm: {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}}]}}
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]
  tolerations:
  - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
  - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
  volumes:
  - name: kube-api-access-abcde
    projected: {defaultMode: 420, sources: [{serviceAccountToken: {expirationSeconds: 3607, path: token}}, {configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}}, {downwardAPI: {items: [{path: namespace, fieldRef: {apiVersion: v1, fieldPath: metadata.namespace}}]}}]}
  dnsPolicy: ClusterFirst
  enableServiceLinks: true
  preemptionPolicy: PreemptLowerPriority
  priority: 0
  restartPolicy: Always
  schedulerName: default-scheduler
  securityContext: {}
  serviceAccount: default
  serviceAccountName: default
  terminationGracePeriodSeconds: 30
status:
  phase: Pending
  qosClass: Burstable
  conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, lastProbeTime: null, lastTransitionTime: "2026-01-31T12:00:00Z", message: "0/3 nodes are available"}]
`

// barePod is a pod as a generator of workloads writes it.
const barePod = `
apiVersion: v1
kind: Pod
metadata: {name: NAME, namespace: default, uid: u1, labels: {app: d1}}
spec:
  containers: [{name: c, image: i, resources: {requests: {cpu: 250m, memory: 512Mi}}}]
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: d1}}}]
`

// BenchmarkPods converts 5,000 pods. On a busy cloud machine of two cores: live
// pods in 0.13 to 0.26 s with 48 MB allocated, bare ones in 0.04 to 0.07 s with
// 29 MB.
func BenchmarkPods(b *testing.B) {
	for _, c := range []struct{ name, doc string }{{"live", livePod}, {"bare", barePod}} {
		b.Run(c.name, func(b *testing.B) {
			raws := make([][]byte, 5000)
			for i := range raws {
				raws[i] = rawPod(b, c.doc, fmt.Sprintf("p-%04d", i))
			}
			b.ReportAllocs()
			for b.Loop() {
				convertAll(b, raws)
			}
		})
	}
}

// rawPod is a pod as JSON under another name.
func rawPod(b *testing.B, doc, name string) []byte {
	b.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
		b.Fatal(err)
	}
	o["metadata"].(map[string]any)["name"] = name
	raw, err := yaml.Marshal(o)
	if err != nil {
		b.Fatal(err)
	}
	if raw, err = yaml.YAMLToJSON(raw); err != nil {
		b.Fatal(err)
	}
	return raw
}

// convertAll converts pods and finishes.
func convertAll(b *testing.B, raws [][]byte) {
	b.Helper()
	rep := &reporter{}
	var acc coreAccumulator
	for i, raw := range raws {
		o := Object{File: "bench", Document: i + 1, APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "p", Raw: raw}
		rep.at(&o)
		convertCore(o, rep, &acc)
	}
	var snap cluster.Snapshot
	acc.finish(&snap, rep)
	if len(snap.Pods) != len(raws) || len(rep.errors) > 0 {
		b.Fatalf("%d pods, errors %v", len(snap.Pods), rep.errors)
	}
}

// BenchmarkExpansion expands one Deployment into 100,000 pods: 0.02 to 0.04 s
// and 44 MB on that machine, which is what the pods themselves take.
func BenchmarkExpansion(b *testing.B) {
	raw, err := yaml.YAMLToJSON([]byte(workloadYAML("Deployment", "web", "replicas: 100000", "")))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		rep := &reporter{}
		var acc coreAccumulator
		feed(raw, 1, rep, &acc)
		var snap cluster.Snapshot
		acc.finish(&snap, rep)
		if len(snap.Pods) != 100_000 {
			b.Fatalf("%d pods", len(snap.Pods))
		}
	}
}
