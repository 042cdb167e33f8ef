package main

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	zoneKey = corev1.LabelTopologyZone
	hostKey = corev1.LabelHostname
	typeKey = "karpenter.sh/capacity-type"
	gpuKey  = corev1.ResourceName("nvidia.com/gpu")
)

// workload is pods of one owner: how many run, on which nodes, and how many wait.
type workload struct {
	namespace, name string
	owner           string // ReplicaSet, StatefulSet or Job
	cpu, memory     string
	gpus            int64
	waiting         int
	running         map[string]int // by node name
	priority        string
	claim           string // volumeClaimTemplate of a StatefulSet, or an existing claim
	gated           bool

	shape func(p *corev1.PodSpec, labels map[string]string)
}

// workloads are what runs and waits in the cluster. Each is there for a rule
// that a planner has to keep.
var workloads = []workload{
	// The shop: spread over zones, and over hosts where that costs nothing.
	{namespace: "storefront", name: "web", owner: "ReplicaSet", cpu: "500m", memory: "1Gi", waiting: 48, priority: "business-critical",
		running: map[string]int{nodeArm: 3, nodeSpot: 4, nodeOnDemand: 3},
		shape: func(p *corev1.PodSpec, l map[string]string) {
			p.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
				spread(zoneKey, 1, corev1.DoNotSchedule, l), spread(hostKey, 3, corev1.ScheduleAnyway, l)}
		}},
	{namespace: "storefront", name: "cart", owner: "ReplicaSet", cpu: "750m", memory: "1536Mi", waiting: 20, priority: "business-critical",
		running: map[string]int{nodeSpot: 2, nodeOnDemand: 1},
		shape: func(p *corev1.PodSpec, l map[string]string) {
			p.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 50, PodAffinityTerm: term(hostKey, l)}}}}
		}},
	// Search needs a machine of its own for each copy, and was built for arm64.
	{namespace: "storefront", name: "search", owner: "StatefulSet", cpu: "3500m", memory: "14Gi", waiting: 8,
		shape: func(p *corev1.PodSpec, l map[string]string) {
			p.NodeSelector = map[string]string{corev1.LabelArchStable: "arm64"}
			p.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term(hostKey, l)}}}
		}},
	// Tracking takes what scanners send: many, small, spread.
	{namespace: "tracking", name: "ingest", owner: "ReplicaSet", cpu: "400m", memory: "512Mi", waiting: 36,
		running: map[string]int{nodeArm: 2, nodeSpot: 5},
		shape: func(p *corev1.PodSpec, l map[string]string) {
			p.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread(zoneKey, 2, corev1.DoNotSchedule, l)}
		}},
	{namespace: "tracking", name: "scanner-gateway", owner: "ReplicaSet", cpu: "250m", memory: "256Mi", waiting: 6,
		shape: func(p *corev1.PodSpec, _ map[string]string) { // one a host: it listens on the host's port
			p.Containers[0].Ports = []corev1.ContainerPort{{Name: "scan", ContainerPort: 9400, HostPort: 9400, Protocol: corev1.ProtocolTCP}}
		}},
	{namespace: "tracking", name: "ledger", owner: "ReplicaSet", cpu: "1", memory: "2Gi", waiting: 12, priority: "business-critical",
		running: map[string]int{nodeOnDemand: 2},
		shape: func(p *corev1.PodSpec, _ map[string]string) { // never on a machine that may be taken away
			p.NodeSelector = map[string]string{typeKey: "on-demand"}
		}},
	// Routing: large computing pods beside a cache that wants to be near them.
	{namespace: "routing", name: "solver", owner: "ReplicaSet", cpu: "7", memory: "10Gi", waiting: 14},
	{namespace: "routing", name: "matrix-cache", owner: "ReplicaSet", cpu: "1500m", memory: "22Gi", waiting: 4,
		shape: func(p *corev1.PodSpec, l map[string]string) {
			p.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term(zoneKey, l)}}}
		}},
	// Data: volumes tie pods to zones.
	{namespace: "data", name: "postgres", owner: "StatefulSet", cpu: "4", memory: "24Gi", waiting: 3, priority: "business-critical", claim: "data",
		shape: func(p *corev1.PodSpec, l map[string]string) {
			p.NodeSelector = map[string]string{typeKey: "on-demand"}
			p.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term(zoneKey, l)}}}
		}},
	{namespace: "data", name: "kafka", owner: "StatefulSet", cpu: "2", memory: "8Gi", waiting: 3, claim: "log",
		shape: func(p *corev1.PodSpec, l map[string]string) {
			p.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spread(zoneKey, 1, corev1.DoNotSchedule, l)}
		}},
	// Invoices run at night, after everybody else has a place.
	{namespace: "billing", name: "invoices", owner: "Job", cpu: "250m", memory: "384Mi", waiting: 40, priority: "batch"},
	{namespace: "billing", name: "tax-report", owner: "Job", cpu: "6", memory: "48Gi", waiting: 2, priority: "batch"},
	// Machine learning: a GPU each.
	{namespace: "ml", name: "eta-train", owner: "Job", cpu: "3", memory: "12Gi", gpus: 1, waiting: 4,
		shape: func(p *corev1.PodSpec, _ map[string]string) { p.Tolerations = append(p.Tolerations, gpuToleration) }},
	{namespace: "ml", name: "label-images", owner: "Job", cpu: "1", memory: "2Gi", waiting: 2, gated: true},

	// What cannot be placed, and should be told why.
	{namespace: "ml", name: "foundation-tune", owner: "Job", cpu: "90", memory: "700Gi", gpus: 8, waiting: 1, // the gpu pool's limit is 6
		shape: func(p *corev1.PodSpec, _ map[string]string) { p.Tolerations = append(p.Tolerations, gpuToleration) }},
	{namespace: "billing", name: "archive-import", owner: "Job", cpu: "500m", memory: "1Gi", waiting: 1, claim: "archive-2019"}, // no such claim
	{namespace: "routing", name: "depot-oslo", owner: "ReplicaSet", cpu: "500m", memory: "1Gi", waiting: 2, // no NodePool goes there
		shape: func(p *corev1.PodSpec, _ map[string]string) {
			p.NodeSelector = map[string]string{zoneKey: "eu-north-1a"}
		}},
}

var gpuToleration = corev1.Toleration{Key: "nvidia.com/gpu", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}

func spread(key string, skew int32, unsatisfiable corev1.UnsatisfiableConstraintAction, labels map[string]string) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{MaxSkew: skew, TopologyKey: key, WhenUnsatisfiable: unsatisfiable, LabelSelector: selector(labels)}
}

func term(key string, labels map[string]string) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: selector(labels)}
}

// selector matches the pods of one workload, whatever its revision.
func selector(labels map[string]string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": labels["app.kubernetes.io/name"]}}
}
