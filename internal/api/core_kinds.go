package api

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// coreKinds are the kinds that convertCore takes, by "apiVersion/Kind"; the
// value tells whether the kind lives in a namespace (Load then fills in
// "default" where an object names none, and clears it for the others).
var coreKinds = map[string]bool{
	"v1/Pod":                                       true,
	"v1/Node":                                      false,
	"v1/Namespace":                                 false,
	"v1/PersistentVolumeClaim":                     true,
	"v1/PersistentVolume":                          false,
	"v1/PodTemplate":                               true,
	"storage.k8s.io/v1/StorageClass":               false,
	"storage.k8s.io/v1/CSINode":                    false,
	"policy/v1/PodDisruptionBudget":                true,
	"scheduling.k8s.io/v1/PriorityClass":           false,
	"node.k8s.io/v1/RuntimeClass":                  false,
	"apps/v1/DaemonSet":                            true,
	"apps/v1/Deployment":                           true,
	"apps/v1/ReplicaSet":                           true,
	"apps/v1/StatefulSet":                          true,
	"batch/v1/Job":                                 true,
	"batch/v1/CronJob":                             true,
	"resource.k8s.io/v1/ResourceClaim":             true,
	"resource.k8s.io/v1/ResourceClaimTemplate":     true,
	"resource.k8s.io/v1/DeviceClass":               false,
	"autoscaling.x-k8s.io/v1beta1/CapacityBuffer":  true,
	"autoscaling.x-k8s.io/v1alpha1/CapacityBuffer": true,
}

// coreAccumulator gathers what the core kinds say until all objects are read.
// The zero value is empty and ready to use.
type coreAccumulator struct {
	path []step // room for paths, from pod to pod
	most int64  // pods that workloads may be expanded into; 0 means maxExpanded
	// generated counts the objects without a name by a hash of their bytes.
	generated map[uint64]uint64

	pods    []cluster.Pod
	pending []pendingPod // of pods that refer to other objects

	nodes      []cluster.Node
	csiLimits  map[string]map[string]int64 // by node and driver
	namespaces []cluster.Namespace

	pvcs           []cluster.PVC
	pvs            []cluster.PV
	storageClasses []cluster.StorageClass
	pdbs           []podBudget

	priorityClasses map[string]priorityClass
	runtimeClasses  map[string]runtimeClass
	claims          map[string]deviceClaim // by namespace/name
	claimTemplates  map[string]deviceClaim // by namespace/name

	workloads []workload
	daemons   []workload
	templates map[string]workload // PodTemplates by namespace/name
	buffers   []buffer
}

// pendingPod is the position of a pod in the accumulator and what it refers to.
type pendingPod struct {
	index int
	refs  podRefs
}

// convertCore decodes and validates one object of a core kind. The reporter
// stands on the object.
func convertCore(o Object, rep *reporter, acc *coreAccumulator) {
	switch o.APIVersion + "/" + o.Kind {
	case "v1/Pod":
		acc.addPod(&o, rep)
	case "v1/Node":
		acc.addNode(&o, rep)
	case "v1/Namespace":
		acc.addNamespace(&o, rep)
	case "v1/PersistentVolumeClaim":
		acc.addPVC(&o, rep)
	case "v1/PersistentVolume":
		acc.addPV(&o, rep)
	case "v1/PodTemplate":
		acc.addPodTemplate(&o, rep)
	case "storage.k8s.io/v1/StorageClass":
		acc.addStorageClass(&o, rep)
	case "storage.k8s.io/v1/CSINode":
		acc.addCSINode(&o, rep)
	case "policy/v1/PodDisruptionBudget":
		acc.addPDB(&o, rep)
	case "scheduling.k8s.io/v1/PriorityClass":
		acc.addPriorityClass(&o, rep)
	case "node.k8s.io/v1/RuntimeClass":
		acc.addRuntimeClass(&o, rep)
	case "apps/v1/DaemonSet":
		acc.addDaemonSet(&o, rep)
	case "apps/v1/Deployment":
		acc.addDeployment(&o, rep)
	case "apps/v1/ReplicaSet":
		acc.addReplicaSet(&o, rep)
	case "apps/v1/StatefulSet":
		acc.addStatefulSet(&o, rep)
	case "batch/v1/Job":
		acc.addJob(&o, rep)
	case "batch/v1/CronJob":
		acc.addCronJob(&o, rep)
	case "resource.k8s.io/v1/ResourceClaim":
		acc.addResourceClaim(&o, rep)
	case "resource.k8s.io/v1/ResourceClaimTemplate":
		acc.addResourceClaimTemplate(&o, rep)
	case "autoscaling.x-k8s.io/v1beta1/CapacityBuffer", "autoscaling.x-k8s.io/v1alpha1/CapacityBuffer":
		acc.addBuffer(&o, rep)
	}
}

// addPod converts a pod and keeps it.
func (acc *coreAccumulator) addPod(o *Object, rep *reporter) {
	var from podObject
	c := acc.read(o, &from, &from.Metadata, rep)
	c.path = acc.path[:0]
	pod, refs := c.pod(o, &from)
	acc.path = c.path
	if !c.clean() {
		return
	}
	if !refs.empty() {
		acc.pending = append(acc.pending, pendingPod{index: len(acc.pods), refs: refs})
	}
	acc.pods = append(acc.pods, pod)
}

// finish resolves what refers to other objects, expands workloads and puts the
// result into the snapshot.
func (acc *coreAccumulator) finish(snap *cluster.Snapshot, rep *reporter) {
	r := newResolver(acc)
	for _, p := range acc.pending {
		r.resolve(&acc.pods[p.index], &p.refs)
	}
	shareParts(acc.pods)

	snap.Pods = append(snap.Pods, acc.pods...)
	live := len(snap.Pods)
	snap.Pods = expand(acc, r, snap.Pods, rep)
	snap.Pods = fillBuffers(acc, r, snap.Pods, rep)
	for i := range acc.daemons {
		snap.DaemonSets = append(snap.DaemonSets, acc.daemons[i].daemonSet(r))
	}

	for i := range acc.nodes {
		acc.nodes[i].VolumeLimits = acc.csiLimits[acc.nodes[i].Name]
	}
	snap.Nodes = append(snap.Nodes, acc.nodes...)
	snap.PVCs = append(snap.PVCs, acc.pvcs...)
	snap.PVs = append(snap.PVs, acc.pvs...)
	snap.StorageClasses = append(snap.StorageClasses, acc.storageClasses...)
	for i := range acc.pdbs {
		snap.PDBs = append(snap.PDBs, acc.pdbs[i].settle(snap.Pods[:live]))
	}
	snap.Namespaces = withImplied(append(snap.Namespaces, acc.namespaces...), snap)
}

// phaseEnded tells whether a pod has run to its end.
func phaseEnded(p corev1.PodPhase) bool { return p == corev1.PodSucceeded || p == corev1.PodFailed }
