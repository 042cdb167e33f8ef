package api

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

const validPool = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
`

// inTemplate puts fields under spec.template.spec.
func inTemplate(fields string) string { return "spec: {template: {spec: {" + fields + "}}}" }

// requirement is the patch with one requirement.
func requirement(fields string) string {
	return inTemplate("requirements: [{" + fields + "}]")
}

const (
	atTemplate    = "spec.template.spec"
	atRequirement = "spec.template.spec.requirements[0]"
)

func TestNodePoolRules(t *testing.T) {
	checkRules(t, validPool, []ruleCase{
		{name: "valid", patch: ""},
		{name: "no spec", patch: "spec: null", path: "spec", says: "is missing"},
		{name: "no template", patch: "spec: {template: null}", path: "spec.template", says: "is missing"},
		{name: "no template spec", patch: "spec: {template: {spec: null}}", path: atTemplate, says: "is missing"},
		{name: "no name", patch: "metadata: {name: null}", path: "metadata.name", says: "is missing"},
		{name: "bad name", patch: "metadata: {name: My_Pool}", path: "metadata.name", says: "lower-case"},
		{name: "long name", patch: "metadata: {name: " + strings.Repeat("a", 64) + "}", path: "metadata.name", says: "longer than 63", warn: true},
		{name: "bad label of the pool", patch: "metadata: {labels: {a: 'b c'}}", path: "metadata.labels.a", says: "not a label value"},
		{name: "bad annotation of the pool", patch: "metadata: {annotations: {'a b': c}}", path: `metadata.annotations["a b"]`, says: "not a label key"},

		{name: "weight 1", patch: "spec: {weight: 1}"},
		{name: "weight 100", patch: "spec: {weight: 100}"},
		{name: "weight 0", patch: "spec: {weight: 0}", path: "spec.weight", says: "from 1 to 100"},
		{name: "weight 101", patch: "spec: {weight: 101}", path: "spec.weight", says: "from 1 to 100"},
		{name: "weight as text", patch: "spec: {weight: '10'}", path: "spec.weight", says: `must be a whole number, not a string; it says "10"`},
		{name: "weight with a fraction", patch: "spec: {weight: 1.5}", path: "spec.weight", says: "must be a whole number, not 1.5"},
		{name: "weight that is too big a number", patch: "spec: {weight: 3000000000}", path: "spec.weight", says: "out of range"},

		{name: "limits", patch: "spec: {limits: {cpu: 1000, memory: 1000Gi, nodes: 10, nvidia.com/gpu: 8}}"},
		{name: "limit in quotes", patch: "spec: {limits: {cpu: '1000'}}"},
		{name: "limit in millicores", patch: "spec: {limits: {cpu: 1500m}}"},
		{name: "limit that is no quantity", patch: "spec: {limits: {memory: 100GB}}", path: "spec.limits.memory", says: `did you mean "100G"?`},
		{name: "limit with a fraction and no quotes", patch: "spec: {limits: {cpu: 1.5}}", path: "spec.limits.cpu", says: `in quotes: "1.5"`},
		{name: "limit below 0", patch: "spec: {limits: {cpu: '-1'}}", path: "spec.limits.cpu", says: "is negative"},
		{name: "limit beyond counting", patch: "spec: {limits: {memory: 10000000Ei}}", path: "spec.limits.memory", says: "more than can be counted"},
		{name: "limit that takes for ever to compute", patch: "spec: {limits: {memory: 1e2147483647}}", path: "spec.limits.memory", says: "than can be counted"},
		{name: "limit of 0", patch: "spec: {limits: {cpu: 0}}", path: "spec.limits.cpu", says: "keeps the pool from making any node", warn: true},
		{name: "limit of a resource that is misspelt", patch: "spec: {limits: {memroy: 1Gi}}", path: "spec.limits.memroy", says: `did you mean "memory"?`, warn: true},

		{name: "static", patch: "spec: {replicas: 3, limits: {nodes: 5}}"},
		{name: "static of 0", patch: "spec: {replicas: 0}"},
		{name: "static below 0", patch: "spec: {replicas: -1}", path: "spec.replicas", says: "is negative"},
		{name: "static with weight", patch: "spec: {replicas: 1, weight: 5}", path: "spec.weight", says: "together with spec.replicas"},
		{name: "static with a limit of cpu", patch: "spec: {replicas: 1, limits: {cpu: 5}}", path: "spec.limits.cpu", says: "together with spec.replicas"},

		{name: "unknown field", patch: "spec: {wieght: 5}", path: "spec.wieght", says: `did you mean "weight"?`},
		{name: "wrong case", patch: inTemplate("expireafter: 720h"), path: "spec.template.spec.expireafter", says: `did you mean "expireAfter"?`},
		{name: "unknown field like no other", patch: "spec: {colour: red}", path: "spec.colour", says: "known are disruption, limits, replicas, template, weight"},
		{name: "field of an older version", patch: inTemplate("kubelet: {maxPods: 10}"), path: "spec.template.spec.kubelet", says: "spec.kubelet of the EC2NodeClass"},
		{name: "unknown field at the top", patch: "specs: {}", path: "specs", says: `did you mean "spec"?`},
		{name: "unknown field in metadata", patch: "metadata: {label: {}}", path: "metadata.label", says: `did you mean "labels"?`},
		{name: "unknown field in a list", patch: requirement("key: a, operator: Exists, value: [b]"), path: atRequirement + ".value", says: `did you mean "values"?`},
		{name: "misspelt required field is reported once", patch: inTemplate("requirements: null, requirement: []"), path: "spec.template.spec.requirement", says: `did you mean "requirements"?`},
		{name: "status is not strict", patch: "status: {colour: red, resources: 5, conditions: [7]}"},
		{name: "what the server adds", patch: "metadata: {uid: u, resourceVersion: '1', generation: 2, creationTimestamp: null, selfLink: x, managedFields: [{manager: m, fieldsV1: {'f:spec': {}}}], finalizers: [f], ownerReferences: [{apiVersion: v1, kind: X, name: x, uid: u}]}"},
	})
}

func TestNodePoolTemplateRules(t *testing.T) {
	label := func(kv string) string { return "spec: {template: {metadata: {labels: {" + kv + "}}}}" }
	const atLabels = "spec.template.metadata.labels"
	manyLabels := make([]string, 101)
	for i := range manyLabels {
		manyLabels[i] = fmt.Sprintf("l%d: v", i)
	}
	checkRules(t, validPool, []ruleCase{
		{name: "labels", patch: label("team: a, example.com/team: b, node-role.kubernetes.io/worker: '', kubernetes.io/foo: c, x.k8s.io/y: d")},
		{name: "100 labels", patch: label(strings.Join(manyLabels[:100], ", "))},
		{name: "101 labels", patch: label(strings.Join(manyLabels, ", ")), path: atLabels, says: "at most 100"},
		{name: "label key", patch: label("'-a': b"), path: atLabels + ".-a", says: "not a label key"},
		{name: "label value", patch: label("a: " + strings.Repeat("b", 64)), path: atLabels + ".a", says: "not a label value"},
		{name: "label value that is no string", patch: label("a: true"), path: atLabels + ".a", says: `put it in quotes: "true"`},
		{name: "hostname", patch: label("kubernetes.io/hostname: a"), path: atLabels + `["kubernetes.io/hostname"]`, says: "may not be used"},
		{name: "nodepool", patch: label("karpenter.sh/nodepool: a"), path: atLabels + `["karpenter.sh/nodepool"]`, says: "may not be used"},
		{name: "capacity type", patch: label("karpenter.sh/capacity-type: spot")},
		{name: "domain of Karpenter", patch: label("karpenter.sh/registered: a"), path: atLabels + `["karpenter.sh/registered"]`, says: "karpenter.sh/capacity-type"},
		{name: "domain below that of Karpenter", patch: label("x.karpenter.sh/y: a"), path: atLabels + `["x.karpenter.sh/y"]`, says: "reserved"},
		{name: "well-known label of AWS", patch: label("karpenter.k8s.aws/instance-family: m5")},
		{name: "unknown label of AWS", patch: label("karpenter.k8s.aws/instance-famly: m5"), path: atLabels + `["karpenter.k8s.aws/instance-famly"]`, says: `did you mean "karpenter.k8s.aws/instance-family"?`},
		{name: "annotations", patch: "spec: {template: {metadata: {annotations: {a: b}}}}"},

		{name: "no class", patch: inTemplate("nodeClassRef: null"), path: atTemplate + ".nodeClassRef", says: "is missing"},
		{name: "no group", patch: inTemplate("nodeClassRef: {group: null}"), path: atTemplate + ".nodeClassRef.group", says: "write karpenter.k8s.aws"},
		{name: "empty group", patch: inTemplate("nodeClassRef: {group: ''}"), path: atTemplate + ".nodeClassRef.group", says: "is empty"},
		{name: "empty kind", patch: inTemplate("nodeClassRef: {kind: ''}"), path: atTemplate + ".nodeClassRef.kind", says: "is empty"},
		{name: "empty name", patch: inTemplate("nodeClassRef: {name: ''}"), path: atTemplate + ".nodeClassRef.name", says: "is empty"},
		{name: "group with a version", patch: inTemplate("nodeClassRef: {group: karpenter.k8s.aws/v1}"), path: atTemplate + ".nodeClassRef.group", says: `write "karpenter.k8s.aws"`},
		{name: "reference by apiVersion", patch: inTemplate("nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1}"), path: atTemplate + ".nodeClassRef.apiVersion", says: "write group"},
		{name: "class of another provider", patch: inTemplate("nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass}"), path: atTemplate + ".nodeClassRef", says: "not a class that this program knows", warn: true},

		{name: "taints", patch: inTemplate("taints: [{key: a, effect: NoSchedule}, {key: a, value: b, effect: NoExecute}], startupTaints: [{key: c, effect: PreferNoSchedule}]")},
		{name: "taint without a key", patch: inTemplate("taints: [{effect: NoSchedule}]"), path: atTemplate + ".taints[0].key", says: "is missing"},
		{name: "taint without an effect", patch: inTemplate("startupTaints: [{key: a}]"), path: atTemplate + ".startupTaints[0].effect", says: "is missing"},
		{name: "taint with an unknown effect", patch: inTemplate("taints: [{key: a, effect: noSchedule}]"), path: atTemplate + ".taints[0].effect", says: `did you mean "NoSchedule"?`},
		{name: "taint with a bad key", patch: inTemplate("taints: [{key: 'a b', effect: NoSchedule}]"), path: atTemplate + ".taints[0].key", says: "not a label key"},
		{name: "taint with a bad value", patch: inTemplate("taints: [{key: a, value: 'b c', effect: NoSchedule}]"), path: atTemplate + ".taints[0].value", says: "not a label value"},
		{name: "taint with a domain in its value", patch: inTemplate("taints: [{key: a, value: example.com/b, effect: NoSchedule}]"), path: atTemplate + ".taints[0].value", says: "a kubelet does not register", warn: true},
		{name: "taint twice", patch: inTemplate("taints: [{key: a, effect: NoSchedule}], startupTaints: [{key: a, value: x, effect: NoSchedule}]"), path: atTemplate + ".startupTaints[0]", says: "already", warn: true},

		{name: "expires", patch: inTemplate("expireAfter: 1h30m")},
		{name: "never expires", patch: inTemplate("expireAfter: Never")},
		{name: "expires after days", patch: inTemplate("expireAfter: 30d"), path: atTemplate + ".expireAfter", says: `did you mean "720h"?`},
		{name: "expires after a number", patch: inTemplate("expireAfter: '30'"), path: atTemplate + ".expireAfter", says: `"30s"`},
		{name: "expires after a fraction", patch: inTemplate("expireAfter: 1.5h"), path: atTemplate + ".expireAfter", says: `did you mean "1h30m"?`},
		{name: "never in lower case", patch: inTemplate("expireAfter: never"), path: atTemplate + ".expireAfter", says: `did you mean "Never"?`},
		{name: "expires beyond counting", patch: inTemplate("expireAfter: 99999999999h"), path: atTemplate + ".expireAfter", says: "longer than can be counted"},
		{name: "grace", patch: inTemplate("terminationGracePeriod: 48h")},
		{name: "grace in milliseconds", patch: inTemplate("terminationGracePeriod: 100ms"), path: atTemplate + ".terminationGracePeriod", says: "not a duration"},
		{name: "grace without end", patch: inTemplate("terminationGracePeriod: Never"), path: atTemplate + ".terminationGracePeriod", says: "leave the field out"},
	})
}

func TestRequirementRules(t *testing.T) {
	at := atRequirement
	checkRules(t, validPool, []ruleCase{
		{name: "none", patch: inTemplate("requirements: null"), path: atTemplate + ".requirements", says: "is missing"},
		{name: "100", patch: inTemplate("requirements: " + many(100, "{key: a, operator: Exists}"))},
		{name: "101", patch: inTemplate("requirements: " + many(101, "{key: a, operator: Exists}")), path: atTemplate + ".requirements", says: "at most 100"},
		{name: "no list", patch: inTemplate("requirements: {key: a}"), path: atTemplate + ".requirements", says: "must be a list, not an object"},
		{name: "no key", patch: requirement("operator: Exists"), path: at + ".key", says: "is missing"},
		{name: "bad key", patch: requirement("key: a/b/c, operator: Exists"), path: at + ".key", says: "not a label key"},
		{name: "no operator", patch: requirement("key: a"), path: at + ".operator", says: "is missing"},
		{name: "unknown operator", patch: requirement("key: a, operator: Inn, values: [b]"), path: at + ".operator", says: `did you mean "In"?`},
		{name: "operator in lower case", patch: requirement("key: a, operator: notin, values: [b]"), path: at + ".operator", says: `did you mean "NotIn"?`},
		{name: "hostname", patch: requirement("key: kubernetes.io/hostname, operator: Exists"), path: at + ".key", says: "may not be used"},
		{name: "nodepool", patch: requirement("key: karpenter.sh/nodepool, operator: Exists"), path: at + ".key", says: "may not be used"},
		{name: "other domain of Karpenter", patch: requirement("key: karpenter.sh/initialized, operator: Exists"), path: at + ".key", says: "reserved"},
		{name: "well-known label of AWS", patch: requirement("key: karpenter.k8s.aws/instance-cpu, operator: Gt, values: ['4']")},
		{name: "unknown label of AWS", patch: requirement("key: karpenter.k8s.aws/family, operator: Exists"), path: at + ".key", says: `did you mean "karpenter.k8s.aws/instance-family"?`},
		{name: "beta alias", patch: requirement("key: beta.kubernetes.io/arch, operator: In, values: [amd64]")},
		{name: "label of the user", patch: requirement("key: example.com/team, operator: In, values: [a]")},
		{name: "label of kubernetes.io", patch: requirement("key: node-role.kubernetes.io/x, operator: Exists")},

		{name: "In", patch: requirement("key: a, operator: In, values: [b, c]")},
		{name: "In without values", patch: requirement("key: a, operator: In"), path: at + ".values", says: "needs one value or more"},
		{name: "In of nothing", patch: requirement("key: a, operator: In, values: []"), path: at + ".values", says: "needs one value or more"},
		{name: "NotIn without values", patch: requirement("key: a, operator: NotIn")},
		{name: "Exists", patch: requirement("key: a, operator: Exists")},
		{name: "Exists with values", patch: requirement("key: a, operator: Exists, values: [b]"), path: at + ".values", says: "no effect", warn: true},
		{name: "DoesNotExist", patch: requirement("key: a, operator: DoesNotExist")},
		{name: "Gt", patch: requirement("key: a, operator: Gt, values: ['0']")},
		{name: "Gte", patch: requirement("key: a, operator: Gte, values: ['4']")},
		{name: "Lt", patch: requirement("key: a, operator: Lt, values: ['4']")},
		{name: "Lte", patch: requirement("key: a, operator: Lte, values: ['4']")},
		{name: "Gt of a number without quotes", patch: requirement("key: a, operator: Gt, values: [4]"), path: at + ".values[0]", says: `put it in quotes: "4"`},
		{name: "Gt of two", patch: requirement("key: a, operator: Gt, values: ['1', '2']"), path: at + ".values", says: "exactly one"},
		{name: "Gt of none", patch: requirement("key: a, operator: Gt"), path: at + ".values", says: "exactly one"},
		{name: "Gt of text", patch: requirement("key: a, operator: Gt, values: [many]"), path: at + ".values[0]", says: "whole number of 0 or more"},
		{name: "Lte of a fraction", patch: requirement("key: a, operator: Lte, values: ['1.5']"), path: at + ".values[0]", says: "whole number"},
		{name: "value", patch: requirement("key: a, operator: In, values: ['b c']"), path: at + ".values[0]", says: "not a label value"},
		{name: "long value", patch: requirement("key: a, operator: In, values: [" + strings.Repeat("b", 64) + "]"), path: at + ".values[0]", says: "at most 63"},

		{name: "value that no node has", patch: requirement("key: karpenter.sh/capacity-type, operator: In, values: [spot, ondemand]"), path: at + ".values[1]", says: `did you mean "on-demand"?`, warn: true},
		{name: "architecture of another name", patch: requirement("key: kubernetes.io/arch, operator: In, values: [x86_64]"), path: at + ".values[0]", says: "known are amd64, arm64", warn: true},
		{name: "minValues", patch: requirement("key: a, operator: In, values: [b, c], minValues: 2")},
		{name: "minValues of Exists", patch: requirement("key: a, operator: Exists, minValues: 50")},
		{name: "minValues beyond the values", patch: requirement("key: a, operator: In, values: [b, c], minValues: 3"), path: at + ".minValues", says: "asks for 3 different values of the 2"},
		{name: "minValues 0", patch: requirement("key: a, operator: Exists, minValues: 0"), path: at + ".minValues", says: "from 1 to 50"},
		{name: "minValues 51", patch: requirement("key: a, operator: Exists, minValues: 51"), path: at + ".minValues", says: "from 1 to 50"},

		{name: "range", patch: inTemplate("requirements: [{key: a, operator: Gt, values: ['3']}, {key: a, operator: Lt, values: ['5']}]")},
		{name: "range upside down", patch: inTemplate("requirements: [{key: a, operator: Gt, values: ['5']}, {key: a, operator: Lt, values: ['3']}]"), path: atTemplate + ".requirements[1]", says: "no number is Gt 5 and Lt 3"},
		{name: "range of nothing", patch: inTemplate("requirements: [{key: a, operator: Gt, values: ['3']}, {key: a, operator: Lt, values: ['4']}]"), path: atTemplate + ".requirements[1]", says: "no number"},
		{name: "range of one", patch: inTemplate("requirements: [{key: a, operator: Gte, values: ['3']}, {key: a, operator: Lte, values: ['3']}]")},
		{name: "below 0", patch: requirement("key: a, operator: Lt, values: ['0']"), path: at, says: "no number is Lt 0"},
		{name: "range by an alias", patch: inTemplate("requirements: [{key: beta.kubernetes.io/arch, operator: In, values: [amd64]}, {key: kubernetes.io/arch, operator: In, values: [arm64]}]"), path: "requirements[1]", says: "no value of kubernetes.io/arch", warn: true},
		{name: "value outside of the range", patch: inTemplate("requirements: [{key: a, operator: In, values: ['2']}, {key: a, operator: Gt, values: ['3']}]"), path: "requirements[1]", says: "no value of a", warn: true},
		{name: "there and not there", patch: inTemplate("requirements: [{key: a, operator: Exists}, {key: a, operator: DoesNotExist}]"), path: "requirements[1]", says: "no value of a", warn: true},
		{name: "in and not in", patch: inTemplate("requirements: [{key: a, operator: In, values: [b]}, {key: a, operator: NotIn, values: [b]}]"), path: "requirements[1]", says: "no value of a", warn: true},
	})
}

func TestDisruptionRules(t *testing.T) {
	disruption := func(fields string) string { return "spec: {disruption: {consolidateAfter: 1m, " + fields + "}}" }
	budget := func(fields string) string { return disruption("budgets: [{" + fields + "}]") }
	const at, atBudget = "spec.disruption", "spec.disruption.budgets[0]"
	checkRules(t, validPool, []ruleCase{
		{name: "empty", patch: "spec: {disruption: {}}", path: at + ".consolidateAfter", says: "is missing"},
		{name: "after 0s", patch: "spec: {disruption: {consolidateAfter: 0s}}"},
		{name: "after Never", patch: "spec: {disruption: {consolidateAfter: Never}}"},
		{name: "after soon", patch: "spec: {disruption: {consolidateAfter: soon}}", path: at + ".consolidateAfter", says: "not a duration"},
		{name: "WhenEmpty", patch: disruption("consolidationPolicy: WhenEmpty")},
		{name: "Balanced", patch: disruption("consolidationPolicy: Balanced")},
		{name: "policy of an older version", patch: disruption("consolidationPolicy: WhenUnderutilized"), path: at + ".consolidationPolicy", says: "WhenEmptyOrUnderutilized"},
		{name: "expireAfter of an older version", patch: disruption("expireAfter: 720h"), path: at + ".expireAfter", says: "spec.template.spec.expireAfter"},

		{name: "no budgets", patch: disruption("budgets: []")},
		{name: "50 budgets", patch: disruption("budgets: " + many(50, "{nodes: '1'}"))},
		{name: "51 budgets", patch: disruption("budgets: " + many(51, "{nodes: '1'}")), path: at + ".budgets", says: "at most 50"},
		{name: "nodes 0", patch: budget("nodes: '0'")},
		{name: "nodes 0%", patch: budget("nodes: 0%")},
		{name: "nodes 100%", patch: budget("nodes: 100%")},
		{name: "nodes by default", patch: budget("reasons: [Empty]")},
		{name: "nodes 101%", patch: budget("nodes: 101%"), path: atBudget + ".nodes", says: `"0%" to "100%"`},
		{name: "nodes below 0", patch: budget("nodes: '-1'"), path: atBudget + ".nodes", says: "not allowed"},
		{name: "nodes as a number", patch: budget("nodes: 5"), path: atBudget + ".nodes", says: `put it in quotes: "5"`},
		{name: "nodes with a fraction", patch: budget("nodes: 2.5%"), path: atBudget + ".nodes", says: "not allowed"},
		{name: "more nodes than there can be", patch: budget("nodes: '99999999999'"), path: atBudget + ".nodes", says: "more nodes than there can be"},
		{name: "reasons", patch: budget("nodes: '1', reasons: [Underutilized, Empty, Drifted]")},
		{name: "50 reasons", patch: budget("nodes: '1', reasons: " + many(50, "Empty"))},
		{name: "51 reasons", patch: budget("nodes: '1', reasons: " + many(51, "Empty")), path: atBudget + ".reasons", says: "at most 50"},
		{name: "unknown reason", patch: budget("nodes: '1', reasons: [Expired]"), path: atBudget + ".reasons[0]", says: "Underutilized, Empty or Drifted"},
		{name: "reason in lower case", patch: budget("nodes: '1', reasons: [empty]"), path: atBudget + ".reasons[0]", says: `did you mean "Empty"?`},

		{name: "schedule", patch: budget("nodes: '1', schedule: 0 9 * * mon-fri, duration: 8h")},
		{name: "hourly", patch: budget("nodes: '1', schedule: '@hourly', duration: 30m")},
		{name: "annually", patch: budget("nodes: '1', schedule: '@annually', duration: 1h30m")},
		{name: "midnight", patch: budget("nodes: '1', schedule: '@midnight', duration: 8h0s")},
		{name: "leap day", patch: budget("nodes: '1', schedule: 0 0 29 2 *, duration: 24h")},
		{name: "schedule without duration", patch: budget("nodes: '1', schedule: 0 9 * * *"), path: atBudget + ".duration", says: "is missing"},
		{name: "duration without schedule", patch: budget("nodes: '1', duration: 8h"), path: atBudget + ".schedule", says: "is missing"},
		{name: "schedule that never comes", patch: budget("nodes: '1', schedule: 0 0 30 2 *, duration: 8h"), path: atBudget + ".schedule", says: "never comes"},
		{name: "schedule of four fields", patch: budget("nodes: '1', schedule: 0 9 * *, duration: 8h"), path: atBudget + ".schedule", says: "has 4 fields and not five"},
		{name: "schedule of six fields", patch: budget("nodes: '1', schedule: 0 0 9 * * *, duration: 8h"), path: atBudget + ".schedule", says: "has 6 fields"},
		{name: "schedule of Sunday as 7", patch: budget("nodes: '1', schedule: 0 9 * * 1-7, duration: 8h"), path: atBudget + ".schedule", says: "not a schedule"},
		{name: "schedule with a time zone", patch: budget("nodes: '1', schedule: 'CRON_TZ=Asia/Tokyo 0 9 * * *', duration: 8h"), path: atBudget + ".schedule", says: "time zone"},
		{name: "schedule by interval", patch: budget("nodes: '1', schedule: '@every 1h', duration: 8h"), path: atBudget + ".schedule", says: "@hourly"},
		{name: "unknown word", patch: budget("nodes: '1', schedule: '@dayly', duration: 8h"), path: atBudget + ".schedule", says: "not a schedule"},
		{name: "duration in seconds", patch: budget("nodes: '1', schedule: '@daily', duration: 3600s"), path: atBudget + ".duration", says: `did you mean "1h"?`},
		{name: "duration in days", patch: budget("nodes: '1', schedule: '@daily', duration: 1d"), path: atBudget + ".duration", says: `did you mean "24h"?`},
		{name: "duration of hours, minutes and seconds", patch: budget("nodes: '1', schedule: '@daily', duration: 1h30m5s"), path: atBudget + ".duration", says: "hours and minutes"},
		{name: "duration of 0", patch: budget("nodes: '1', schedule: '@daily', duration: 0h"), path: atBudget + ".duration", says: "never holds", warn: true},
	})
}

// TestNodePoolConversion reads one pool with everything in it.
func TestNodePoolConversion(t *testing.T) {
	r := Load([]Source{{Name: "pool.yaml", Data: []byte(`
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: all, uid: u1, deletionTimestamp: "2026-01-01T00:00:00Z"}
spec:
  weight: 7
  limits: {memory: 10Gi, cpu: 1500m}
  disruption:
    consolidateAfter: Never
    consolidationPolicy: WhenEmpty
    budgets: [{nodes: "5", reasons: [Empty], schedule: "@daily", duration: 1h30m}]
  template:
    metadata: {labels: {team: a}, annotations: {note: x}}
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: gpu}
      requirements:
      - {key: beta.kubernetes.io/arch, operator: In, values: [arm64, amd64], minValues: 2}
      taints: [{key: a, value: b, effect: NoSchedule}]
      startupTaints: [{key: c, effect: NoExecute}]
      expireAfter: Never
      terminationGracePeriod: 1h30m
`)}}, Options{})
	if len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	grace := 90 * time.Minute
	want := cluster.NodePool{
		Name: "all", UID: "u1", Weight: 7, Deleting: true,
		Hash:          r.Snapshot.NodePools[0].Hash,
		Labels:        map[string]string{"team": "a"},
		Annotations:   map[string]string{"note": "x"},
		NodeClass:     cluster.NodeClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "gpu"},
		Requirements:  []cluster.Requirement{{Key: cluster.LabelArch, Operator: cluster.In, Values: []string{"arm64", "amd64"}, MinValues: 2}},
		Taints:        []corev1.Taint{{Key: "a", Value: "b", Effect: "NoSchedule"}},
		StartupTaints: []corev1.Taint{{Key: "c", Effect: "NoExecute"}},
		ExpireAfter:   cluster.Duration{Never: true}, TerminationGracePeriod: &grace,
		Limits: cluster.Resources{{Name: "cpu", Amount: 1500}, {Name: "memory", Amount: 10 << 30}},
		Disruption: cluster.Disruption{
			ConsolidateAfter: cluster.Duration{Never: true}, ConsolidationPolicy: "WhenEmpty",
			Budgets: []cluster.Budget{{Nodes: "5", Reasons: []string{"Empty"}, Schedule: "@daily", Duration: 90 * time.Minute}},
		},
	}
	if diff := cmp.Diff(want, r.Snapshot.NodePools[0]); diff != "" {
		t.Error(diff)
	}
}

func TestNodePoolDefaults(t *testing.T) {
	r := Load([]Source{{Name: "pool.yaml", Data: []byte(validPool)}}, Options{})
	want := cluster.NodePool{
		Name: "default", Hash: r.Snapshot.NodePools[0].Hash,
		NodeClass:    cluster.NodeClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
		Requirements: []cluster.Requirement{},
		ExpireAfter:  cluster.Duration{Duration: 720 * time.Hour},
		Disruption: cluster.Disruption{
			ConsolidationPolicy: "WhenEmptyOrUnderutilized",
			Budgets:             []cluster.Budget{{Nodes: "10%"}},
		},
	}
	if diff := cmp.Diff(want, r.Snapshot.NodePools[0]); diff != "" {
		t.Error(diff)
	}
}

// TestPoolHash: the hash changes with the template and with nothing else.
func TestPoolHash(t *testing.T) {
	hash := func(patch string) string {
		r := Load([]Source{{Name: "p", Data: patched(t, validPool, patch)}}, Options{})
		if len(r.Errors) > 0 {
			t.Fatal(r.Errors)
		}
		return r.Snapshot.NodePools[0].Hash
	}
	base := hash("")
	if want := "dbd17ea33e5fab38"; base != want {
		t.Errorf("the hash of the valid pool is %s and was %s: every standing node would be drifted", base, want)
	}
	for _, same := range []string{
		"spec: {weight: 5, limits: {cpu: 1}}",
		"spec: {disruption: {consolidateAfter: 1h}}",
		requirement("key: a, operator: Exists"),
		inTemplate("expireAfter: 43200m"),
		"spec: {template: {metadata: {labels: {}}}}",
	} {
		if hash(same) != base {
			t.Errorf("%s changes the hash", same)
		}
	}
	for _, other := range []string{
		"spec: {template: {metadata: {labels: {a: b}}}}",
		"spec: {template: {metadata: {annotations: {a: b}}}}",
		inTemplate("taints: [{key: a, effect: NoSchedule}]"),
		inTemplate("startupTaints: [{key: a, effect: NoSchedule}]"),
		inTemplate("expireAfter: Never"),
		inTemplate("terminationGracePeriod: 1h"),
		inTemplate("nodeClassRef: {name: other}"),
	} {
		if hash(other) == base {
			t.Errorf("%s does not change the hash", other)
		}
	}
	if hash(inTemplate("taints: [{key: a, effect: NoSchedule}, {key: b, effect: NoSchedule}]")) !=
		hash(inTemplate("taints: [{key: b, effect: NoSchedule}, {key: a, effect: NoSchedule}]")) {
		t.Error("the order of taints changes the hash")
	}
}
