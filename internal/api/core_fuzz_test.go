package api

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// seeds are objects of every kind, as a start for the fuzzer.
var seeds = []string{
	podYAML("p", `
hostNetwork: true
runtimeClassName: kata
priorityClassName: high
overhead: {cpu: 1m}
resources: {requests: {cpu: 1}}
nodeSelector: {beta.kubernetes.io/arch: arm64}
initContainers: [{name: i, restartPolicy: Always, resources: {limits: {cpu: 1}}}]
containers: [{name: c, ports: [{containerPort: 80, hostPort: 80}], resources: {requests: {cpu: 100m, memory: 1Gi, nvidia.com/gpu: 1}, limits: {nvidia.com/gpu: 1}}}]
tolerations: [{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 5}]
topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 2, labelSelector: {}, matchLabelKeys: [app]}]
volumes: [{name: a, persistentVolumeClaim: {claimName: b}}, {name: e, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: ""}}}}, {name: d, csi: {driver: x}}]
resourceClaims: [{name: r, resourceClaimName: a}, {name: s, resourceClaimTemplateName: b}]
affinity:
  nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: ["1"]}]}, {matchFields: [{key: metadata.name, operator: In, values: [a]}]}]}}
  podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: z, labelSelector: {}, mismatchLabelKeys: [app]}}]}
`) + `status: {phase: Pending, conditions: [{type: PodResizePending, status: "True", reason: Infeasible}], containerStatuses: [{name: c, resources: {requests: {cpu: 2}}, allocatedResources: {cpu: 1}}]}
`,
	"apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {beta.kubernetes.io/os: linux}}\nspec: {taints: [{key: a, effect: NoSchedule}]}\nstatus: {capacity: {cpu: 4}, conditions: [{type: Ready, status: \"True\"}]}\n",
	"apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n",
	"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a}\nspec: {storageClassName: x}\n",
	"apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: a, labels: {failure-domain.beta.kubernetes.io/zone: a__b}}\nspec: {csi: {driver: d, volumeHandle: v}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b]}]}]}}}\n",
	"apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: a}\nprovisioner: p\nvolumeBindingMode: Immediate\nallowedTopologies: [{matchLabelExpressions: [{key: a, values: [b]}]}]\n",
	"apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: a}\nspec: {drivers: [{name: d, nodeID: n, topologyKeys: [], allocatable: {count: 5}}]}\n",
	"apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: a}\nspec: {selector: {matchLabels: {app: web}}, minAvailable: 50%}\n",
	"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 5\nglobalDefault: true\n",
	kata,
	workloadYAML("Deployment", "web", "replicas: 3", ""),
	workloadYAML("ReplicaSet", "web", "replicas: 3", ""),
	workloadYAML("StatefulSet", "web", "replicas: 3\nordinals: {start: 2}\nvolumeClaimTemplates: [{metadata: {name: d}, spec: {}}]", "topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, labelSelector: {}, matchLabelKeys: [apps.kubernetes.io/pod-index]}]"),
	workloadYAML("DaemonSet", "web", "", "hostNetwork: true"),
	workloadYAML("Job", "web", "parallelism: 3\ncompletions: 5\ncompletionMode: Indexed", ""),
	strings.ReplaceAll(nightly, "SUSPEND", "false"),
	slotTemplate,
	bufferYAML("podTemplateRef: {name: slot}\nlimits: {cpu: 4}"),
	bufferYAML("scalableRef: {kind: Deployment, name: web}\npercentage: 10\nreplicas: 1"),
	claimYAML("ResourceClaim", "a", "{name: r, exactly: {deviceClassName: c, count: 2}}", "{allocation: {}}"),
	claimYAML("ResourceClaimTemplate", "b", "{name: r, firstAvailable: [{name: s, deviceClassName: c}]}", ""),
}

// FuzzCore converts whatever comes, beside objects that it may refer to.
func FuzzCore(f *testing.F) {
	for _, doc := range seeds {
		raw, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	var others [][]byte
	for _, doc := range []string{kata, slotTemplate, workloadYAML("Deployment", "web", "replicas: 3", "")} {
		raw, _ := yaml.YAMLToJSON([]byte(doc))
		others = append(others, raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		rep := &reporter{}
		acc := coreAccumulator{most: 50}
		feed(raw, 1, rep, &acc)
		for i, o := range others {
			feed(o, i+2, rep, &acc)
		}
		var snap cluster.Snapshot
		acc.finish(&snap, rep)
		for i := range snap.Pods {
			checkPod(t, &snap.Pods[i])
		}
	})
}

// checkPod checks what holds for every pod that a conversion lets through.
func checkPod(t *testing.T, p *cluster.Pod) {
	t.Helper()
	if p.Name == "" || p.Namespace == "" {
		t.Errorf("a pod without a name: %+v", p)
	}
	for i, x := range p.Requests {
		if x.Amount <= 0 || x.Amount > absurdAmount+absurdAmount || i > 0 && p.Requests[i-1].Name >= x.Name {
			t.Errorf("requests %v", p.Requests)
		}
	}
	for i := range p.Spread {
		if p.Spread[i].MaxSkew < 1 || p.Spread[i].TopologyKey == "" || len(p.Spread[i].MatchLabelKeys) > 0 {
			t.Errorf("spread %+v", p.Spread[i])
		}
	}
	if p.NodeName != "" && p.Unschedulable {
		t.Errorf("a pod with a node that waits for one: %+v", p)
	}
	if slices.Contains(p.Problems, "") {
		t.Errorf("an empty problem")
	}
}
