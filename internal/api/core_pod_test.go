package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

func TestPodFields(t *testing.T) {
	pod := onlyPod(t, mustReadCore(t, `
apiVersion: v1
kind: Pod
metadata:
  name: web-1
  namespace: shop
  uid: u-1
  creationTimestamp: "2026-01-31T12:00:00Z"
  deletionTimestamp: "2026-01-31T13:00:00Z"
  labels: {app: web}
  annotations:
    karpenter.sh/do-not-disrupt: "true"
    compatibility.karpenter.sh/x: "1"
    dovetail.sh/y: "2"
    kubectl.kubernetes.io/last-applied-configuration: "{}"
    notkarpenter.sh/z: "3"
  ownerReferences:
  - {apiVersion: v1, kind: Other, name: other, uid: u-3}
  - {apiVersion: apps/v1, kind: ReplicaSet, name: web-abc, uid: u-2, controller: true}
  managedFields: [{manager: kubectl, fieldsV1: {"f:x": {}}}]
spec:
  nodeName: node-1
  priority: 7
  priorityClassName: high
  schedulerName: mine
  nodeSelector: {beta.kubernetes.io/arch: arm64, disk: ssd}
  containers: [{name: c, image: i}]
status:
  phase: Running
  nominatedNodeName: node-2
  somethingNew: {from: the future}
`))
	want := &cluster.Pod{
		Namespace: "shop", Name: "web-1", UID: "u-1",
		Labels: map[string]string{"app": "web"},
		Annotations: map[string]string{
			"karpenter.sh/do-not-disrupt": "true", "compatibility.karpenter.sh/x": "1", "dovetail.sh/y": "2",
		},
		Owner:    cluster.Owner{Kind: "ReplicaSet", Name: "web-abc", UID: "u-2"},
		NodeName: "node-1", NominatedNodeName: "node-2", Phase: corev1.PodRunning, Deleting: true,
		Requests:     cluster.Resources{},
		NodeSelector: map[string]string{cluster.LabelArch: "arm64", "disk": "ssd"},
		Priority:     7, PriorityClassName: "high", SchedulerName: "mine",
	}
	want.Created = pod.Created
	if pod.Created.UTC().Format("2006-01-02T15:04:05Z") != "2026-01-31T12:00:00Z" {
		t.Errorf("created %v", pod.Created)
	}
	if diff := cmp.Diff(want, pod); diff != "" {
		t.Errorf("pod (-want +got):\n%s", diff)
	}
}

func TestPodWaits(t *testing.T) {
	type flags struct {
		Unschedulable, Gated bool
		Phase                corev1.PodPhase
	}
	cases := []struct {
		name, spec, status string
		want               flags
	}{
		{"written by hand", "", "", flags{Unschedulable: true, Phase: "Pending"}},
		{"bound by hand", "nodeName: node-1", "", flags{Phase: "Pending"}},
		{"found unschedulable", "", `{phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]}`, flags{Unschedulable: true, Phase: "Pending"}},
		{"not looked at yet", "", `{phase: Pending}`, flags{Unschedulable: true, Phase: "Pending"}},
		{"scheduled", "nodeName: node-1", `{phase: Running, conditions: [{type: PodScheduled, status: "True"}]}`, flags{Phase: "Running"}},
		{"failed for another reason", "", `{phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: SchedulerError}]}`, flags{Phase: "Pending"}},
		{"gated by a gate", "schedulingGates: [{name: quota}]", "", flags{Gated: true, Phase: "Pending"}},
		{"gated by its condition", "", `{phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: SchedulingGated}]}`, flags{Gated: true, Phase: "Pending"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			doc := podYAML("p", oneContainer+c.spec)
			if c.status != "" {
				doc += "status: " + c.status + "\n"
			}
			p := onlyPod(t, mustReadCore(t, doc))
			if diff := cmp.Diff(c.want, flags{p.Unschedulable, p.Gated, p.Phase}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestHostPorts(t *testing.T) {
	cases := []struct {
		name, spec string
		want       []cluster.HostPort
	}{
		{"none", "containers: [{name: c, ports: [{containerPort: 80}]}]", nil},
		{"stated", "containers: [{name: c, ports: [{containerPort: 80, hostPort: 8080}, {containerPort: 53, hostPort: 53, protocol: UDP, hostIP: 10.0.0.1}]}]",
			[]cluster.HostPort{{IP: "10.0.0.1", Protocol: "UDP", Port: 53}, {Protocol: "TCP", Port: 8080}}},
		{"in the host's network", "hostNetwork: true\ncontainers: [{name: c, ports: [{containerPort: 80}, {containerPort: 81, hostPort: 81}]}]",
			[]cluster.HostPort{{Protocol: "TCP", Port: 80}, {Protocol: "TCP", Port: 81}}},
		{"sidecars count, init containers do not", `
initContainers:
- {name: s, restartPolicy: Always, ports: [{containerPort: 90, hostPort: 90}]}
- {name: i, ports: [{containerPort: 91, hostPort: 91}]}
containers: [{name: c, ports: [{containerPort: 92, hostPort: 90}]}]`, []cluster.HostPort{{Protocol: "TCP", Port: 90}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := onlyPod(t, mustReadCore(t, podYAML("p", c.spec)))
			if diff := cmp.Diff(c.want, p.HostPorts); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodVolumes(t *testing.T) {
	spec := oneContainer + `
volumes:
- {name: config, configMap: {name: x}}
- {name: token, projected: {sources: [{serviceAccountToken: {path: token}}]}}
- {name: data, persistentVolumeClaim: {claimName: data-claim}}
- {name: scratch, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}
- {name: plain, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}
- {name: made, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast}}}}
- {name: secrets, csi: {driver: secrets-store.csi.k8s.io}}
- {name: old, awsElasticBlockStore: {volumeID: vol-1}}
`
	pvc := "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: p-made}\nspec: {}\n"
	p := onlyPod(t, mustReadCore(t, podYAML("p", spec), pvc))
	want := []cluster.Volume{
		{Claim: "data-claim"},
		{Ephemeral: true, StorageClass: "fast"},
		{Ephemeral: true},
		{Claim: "p-made"},
		{Driver: "secrets-store.csi.k8s.io"},
		{Driver: "ebs.csi.aws.com"},
	}
	if diff := cmp.Diff(want, p.Volumes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEphemeralVolumeWithoutClass(t *testing.T) {
	spec := oneContainer + "volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: \"\"}}}}]\n"
	p := onlyPod(t, mustReadCore(t, podYAML("p", spec)))
	if len(p.Problems) != 1 || !strings.Contains(p.Problems[0], `volume "v"`) {
		t.Errorf("problems %q", p.Problems)
	}
}

func TestBetaNamesBecomeCurrent(t *testing.T) {
	spec := oneContainer + `
nodeSelector: {failure-domain.beta.kubernetes.io/zone: us-east-1a}
topologySpreadConstraints:
- {maxSkew: 1, topologyKey: failure-domain.beta.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms: [{matchExpressions: [{key: beta.kubernetes.io/instance-type, operator: In, values: [m5.large]}]}]
    preferredDuringSchedulingIgnoredDuringExecution:
    - {weight: 1, preference: {matchExpressions: [{key: beta.kubernetes.io/os, operator: Exists}]}}
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
    - {topologyKey: failure-domain.beta.kubernetes.io/region, labelSelector: {}}
`
	p := onlyPod(t, mustReadCore(t, podYAML("p", spec)))
	got := []string{
		p.NodeSelector[cluster.LabelZone],
		p.Spread[0].TopologyKey,
		p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0].Key,
		p.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].Preference.MatchExpressions[0].Key,
		p.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey,
	}
	want := []string{"us-east-1a", cluster.LabelZone, cluster.LabelInstanceType, cluster.LabelOS, cluster.LabelRegion}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPodRefused(t *testing.T) {
	node := func(term string) string {
		return oneContainer + "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + term + "]}}}\n"
	}
	const nodePath = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
	anti := func(term string) string {
		return oneContainer + "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" + term + "]}}\n"
	}
	const antiPath = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"
	spread := func(c string) string {
		return oneContainer + "topologySpreadConstraints: [{" + c + "}]\n"
	}
	const spreadPath = "spec.topologySpreadConstraints[0]"
	const fine = "maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule"
	cases := []struct{ name, spec, path, says string }{
		{"no containers", "restartPolicy: Always", "spec.containers", "at least one container"},
		{"a container without a name", "containers: [{image: i}]", "spec.containers[0].name", "needs a name"},
		{"two containers of one name", "containers: [{name: c}, {name: c}]", "spec.containers[1].name", "used twice"},
		{"an init container with that name", "initContainers: [{name: c}]\ncontainers: [{name: c}]", "spec.initContainers[0].name", "used twice"},
		{"an unknown field", oneContainer + "nodeSelecter: {}\n", "spec.nodeSelecter", `"nodeSelector"`},
		{"a wrong type", oneContainer + "hostNetwork: \"yes\"\n", "spec.hostNetwork", "true or false"},
		{"a node selector that is no label", oneContainer + "nodeSelector: {\"a b\": x}\n", `spec.nodeSelector["a b"]`, "label key"},
		{"a value that is no label's", oneContainer + "nodeSelector: {a: \"x y\"}\n", "spec.nodeSelector.a", "label value"},

		{"no terms", node(""), nodePath, "at least one term"},
		{"an unknown operator", node("{matchExpressions: [{key: a, operator: Near, values: [b]}]}"), nodePath + "[0].matchExpressions[0].operator", `"Near" is not allowed`},
		{"In without values", node("{matchExpressions: [{key: a, operator: In}]}"), nodePath + "[0].matchExpressions[0].values", "at least one value"},
		{"Exists with values", node("{matchExpressions: [{key: a, operator: Exists, values: [b]}]}"), nodePath + "[0].matchExpressions[0].values", "takes no values"},
		{"Gt with two values", node(`{matchExpressions: [{key: a, operator: Gt, values: ["1", "2"]}]}`), nodePath + "[0].matchExpressions[0].values", "exactly one value"},
		{"no key", node("{matchExpressions: [{key: \"\", operator: Exists}]}"), nodePath + "[0].matchExpressions[0].key", "label key"},
		{"a weight out of range", oneContainer + "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, preference: {}}]}}\n",
			"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight", "1 to 100"},

		{"no topology key", anti("{labelSelector: {}}"), antiPath + ".topologyKey", "names no label"},
		{"a bad selector", anti("{topologyKey: z, labelSelector: {matchExpressions: [{key: a, operator: Gt, values: [\"1\"]}]}}"), antiPath + ".labelSelector.matchExpressions[0].operator", `"Gt" is not allowed`},
		{"a bad namespace selector", anti("{topologyKey: z, labelSelector: {}, namespaceSelector: {matchExpressions: [{key: a, operator: In}]}}"), antiPath + ".namespaceSelector.matchExpressions[0].values", "at least one value"},
		{"a bad namespace", anti("{topologyKey: z, labelSelector: {}, namespaces: [A_b]}"), antiPath + ".namespaces[0]", "no name of a namespace"},
		{"match keys without a selector", anti("{topologyKey: z, matchLabelKeys: [app]}"), antiPath + ".matchLabelKeys", "needs a labelSelector"},
		{"a match key that the selector fixes", anti("{topologyKey: z, matchLabelKeys: [app], labelSelector: {matchLabels: {app: x}}}"), antiPath + ".matchLabelKeys[0]", "stands in the labelSelector too"},
		{"a key both ways", anti("{topologyKey: z, matchLabelKeys: [app], mismatchLabelKeys: [app], labelSelector: {}}"), antiPath + ".mismatchLabelKeys[0]", "stands in matchLabelKeys too"},

		{"no skew", spread("topologyKey: zone, whenUnsatisfiable: DoNotSchedule"), spreadPath + ".maxSkew", "1 or more"},
		{"an unknown rule", spread("maxSkew: 1, topologyKey: zone, whenUnsatisfiable: Maybe"), spreadPath + ".whenUnsatisfiable", `"Maybe" is not allowed`},
		{"minDomains that cannot bind", spread("maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, minDomains: 2"), spreadPath + ".minDomains", "only allowed with"},
		{"minDomains of none", spread(fine + ", minDomains: 0"), spreadPath + ".minDomains", "1 or more"},
		{"no key to spread over", spread("maxSkew: 1, whenUnsatisfiable: DoNotSchedule"), spreadPath + ".topologyKey", "names no label"},
		{"a policy that is none", spread(fine + ", nodeTaintsPolicy: Obey"), spreadPath + ".nodeTaintsPolicy", "Honor or Ignore"},
		{"the same constraint twice", spread(fine + "}, {" + fine), "spec.topologySpreadConstraints[1]", "repeats"},
		{"spread by a key that the selector excludes", spread(fine + ", matchLabelKeys: [app], labelSelector: {matchExpressions: [{key: app, operator: Exists}]}"), spreadPath + ".matchLabelKeys[0]", "stands in the labelSelector too"},

		{"a toleration of an unknown effect", oneContainer + "tolerations: [{key: a, operator: Exists, effect: NoRun}]\n", "spec.tolerations[0].effect", `"NoRun" is not allowed`},
		{"a toleration of an unknown operator", oneContainer + "tolerations: [{key: a, operator: Equals, value: b}]\n", "spec.tolerations[0].operator", `"Equals" is not allowed`},
		{"Exists with a value", oneContainer + "tolerations: [{key: a, operator: Exists, value: b}]\n", "spec.tolerations[0].value", "takes no value"},
		{"Equal without a key", oneContainer + "tolerations: [{value: b}]\n", "spec.tolerations[0].operator", "must be Exists"},
		{"seconds without NoExecute", oneContainer + "tolerations: [{key: a, operator: Exists, effect: NoSchedule, tolerationSeconds: 5}]\n", "spec.tolerations[0].effect", "must be NoExecute"},

		{"a port that does not exist", "containers: [{name: c, ports: [{containerPort: 70000}]}]", "spec.containers[0].ports[0].containerPort", "1 to 65535"},
		{"a host port twice", "containers: [{name: c, ports: [{containerPort: 80, hostPort: 80}, {containerPort: 81, hostPort: 80}]}]", "spec.containers[0].ports[1].hostPort", "used twice"},
		{"a host port unlike its own", "hostNetwork: true\ncontainers: [{name: c, ports: [{containerPort: 80, hostPort: 81}]}]", "spec.containers[0].ports[0].hostPort", "must be 80"},
		{"an unknown protocol", "containers: [{name: c, ports: [{containerPort: 80, protocol: HTTP}]}]", "spec.containers[0].ports[0].protocol", "TCP, UDP or SCTP"},

		{"a claim without a name", oneContainer + "volumes: [{name: v, persistentVolumeClaim: {claimName: \"\"}}]\n", "spec.volumes[0].persistentVolumeClaim.claimName", "names no PersistentVolumeClaim"},
		{"two volumes of one name", oneContainer + "volumes: [{name: v, emptyDir: {}}, {name: v, emptyDir: {}}]\n", "spec.volumes[1].name", "used twice"},
		{"an ephemeral volume without a template", oneContainer + "volumes: [{name: v, ephemeral: {}}]\n", "spec.volumes[0].ephemeral.volumeClaimTemplate", "is missing"},
		{"a resource claim of two kinds", oneContainer + "resourceClaims: [{name: r, resourceClaimName: a, resourceClaimTemplateName: b}]\n", "spec.resourceClaims[0]", "exactly one of"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, rep := readCore(t, podYAML("p", c.spec))
			if len(rep.errors) != 1 {
				t.Fatalf("errors: %q, want one", messages(rep))
			}
			if e := rep.errors[0]; e.Path != c.path || !strings.Contains(e.Message, c.says) {
				t.Errorf("got %s: %s\nwant %s: …%s…", e.Path, e.Message, c.path, c.says)
			}
		})
	}
}

func TestPodLabelsRefused(t *testing.T) {
	_, rep := readCore(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {-a: b, UP.example.com/a: b, c: \""+strings.Repeat("x", 64)+"\"}}\nspec: {containers: [{name: c}]}\n")
	var paths []string
	for _, e := range rep.errors {
		paths = append(paths, e.Path)
	}
	want := []string{`metadata.labels.-a`, `metadata.labels["UP.example.com/a"]`, `metadata.labels.c`}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAllMistakesOfAPodAtOnce(t *testing.T) {
	_, rep := readCore(t, podYAML("p", `
containers: [{name: c, imige: i, resources: {requests: {cpu: -1}}}]
tolerations: [{effect: Never, operator: Exists}]
topologySpreadConstraints: [{maxSkew: "1", topologyKey: "", whenUnsatisfiable: DoNotSchedule}]
`))
	var paths []string
	for _, e := range rep.errors {
		paths = append(paths, e.Path)
	}
	want := []string{
		"spec.containers[0].imige",
		"spec.topologySpreadConstraints[0].maxSkew", // of the wrong type, and not also too small
		"spec.containers[0].resources.requests.cpu",
		"spec.tolerations[0].effect",
		"spec.topologySpreadConstraints[0].topologyKey",
	}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNamesOfObjects(t *testing.T) {
	cases := []struct{ name, metadata, path string }{
		{"none", "{}", "metadata.name"},
		{"of capitals", "{name: Web}", "metadata.name"},
		{"too long", "{name: " + strings.Repeat("a", 254) + "}", "metadata.name"},
		{"a bad namespace", "{name: web, namespace: a.b}", "metadata.namespace"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, rep := readCore(t, "apiVersion: v1\nkind: Pod\nmetadata: "+c.metadata+"\nspec: {containers: [{name: c}]}\n")
			if len(rep.errors) != 1 || rep.errors[0].Path != c.path {
				t.Errorf("errors %q, want one at %s", messages(rep), c.path)
			}
		})
	}
}

func TestGeneratedName(t *testing.T) {
	const doc = "apiVersion: v1\nkind: Pod\nmetadata: {generateName: web-}\nspec: {containers: [{name: c}]}\n"
	a, b := onlyPod(t, mustReadCore(t, doc)), onlyPod(t, mustReadCore(t, doc))
	if !strings.HasPrefix(a.Name, "web-") || len(a.Name) != len("web-")+5 || a.Name != b.Name {
		t.Errorf("names %q and %q", a.Name, b.Name)
	}
	twins := mustReadCore(t, doc, doc).Pods
	if len(twins) != 2 || twins[0].Name != a.Name || twins[1].Name == a.Name {
		t.Errorf("twins are called %q", keysOf(twins))
	}
}

func TestProblemsOfPods(t *testing.T) {
	node := func(terms string) string {
		return oneContainer + "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [" + terms + "]}}}\n"
	}
	cases := []struct {
		name, spec, says string
		terms            int // required terms that are left
	}{
		{"matchFields alone", node("{matchFields: [{key: metadata.name, operator: In, values: [node-1]}]}"), "uses matchFields", 0},
		{"matchFields beside another term", node("{matchFields: [{key: metadata.name, operator: In, values: [node-1]}]}, {matchExpressions: [{key: a, operator: Exists}]}"), "", 1},
		{"only empty terms", node("{}"), "only empty terms", 0},
		{"an empty term beside another", node("{}, {matchExpressions: [{key: a, operator: Exists}]}"), "", 1},
		{"Gt with a word", node("{matchExpressions: [{key: a, operator: Gt, values: [many]}]}"), "integers only", 1},
		{"a selector at odds with itself", oneContainer + "nodeSelector: {beta.kubernetes.io/arch: arm64, kubernetes.io/arch: amd64}\n", "to be both", -1},
		{"a priority class that is not there", oneContainer + "priorityClassName: gold\n", "PriorityClass gold", -1},
		{"a priority class that a server has resolved", oneContainer + "priorityClassName: gold\npriority: 5\n", "", -1},
		{"a runtime class that is not there", oneContainer + "runtimeClassName: kata\n", "RuntimeClass kata", -1},
		{"a runtime class that a server has resolved", oneContainer + "runtimeClassName: kata\noverhead: {cpu: 1m}\n", "", -1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := onlyPod(t, mustReadCore(t, podYAML("p", c.spec)))
			if got := strings.Join(p.Problems, " "); c.says == "" && got != "" || !strings.Contains(got, c.says) {
				t.Errorf("problems %q, want …%s…", p.Problems, c.says)
			}
			for _, problem := range p.Problems {
				if !strings.HasSuffix(problem, ".") || !strings.Contains(problem, ";") && !strings.Contains(problem, ",") {
					t.Errorf("%q is no sentence with a mend", problem)
				}
			}
			if c.terms < 0 {
				return
			}
			if got := len(p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms); got != c.terms {
				t.Errorf("%d terms are left, want %d", got, c.terms)
			}
		})
	}
}

func TestPreferencesThatSayNothingGo(t *testing.T) {
	p := onlyPod(t, mustReadCore(t, podYAML("p", oneContainer+`
tolerations: []
topologySpreadConstraints: []
nodeSelector: {}
affinity:
  nodeAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
    - {weight: 1, preference: {}}
    - {weight: 1, preference: {matchFields: [{key: metadata.name, operator: In, values: [node-1]}]}}
  podAffinity: {}
`)))
	if p.Affinity != nil || p.Tolerations != nil || p.Spread != nil || p.NodeSelector != nil {
		t.Errorf("affinity %v, tolerations %v, spread %v, selector %v; want none", p.Affinity, p.Tolerations, p.Spread, p.NodeSelector)
	}
}
