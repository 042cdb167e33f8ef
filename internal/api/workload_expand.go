package api

import (
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// maxExpanded is how many pods an input may be expanded into, and how many its
// buffers may have. More is a slip of the keyboard, or a file that would fill
// the memory.
const maxExpanded = 1_000_000

// mostPods is maxExpanded, unless a test wants less.
func (acc *coreAccumulator) mostPods() int64 {
	if acc.most > 0 {
		return acc.most
	}
	return maxExpanded
}

// expand appends the pods of the workloads whose pods are not in the input.
func expand(acc *coreAccumulator, r *resolver, pods []cluster.Pod, rep *reporter) []cluster.Pod {
	if len(acc.workloads) == 0 {
		return pods
	}
	present := findPresent(acc, pods)
	var due []*workload
	total, most := int64(0), acc.mostPods()
	for i := range acc.workloads {
		w := &acc.workloads[i]
		if w.replicas == 0 || present[w.key()] {
			continue
		}
		if total+w.replicas > most {
			rep.at(&w.object)
			rep.addf(w.path, "%d pods here make more than %d in all, which is as many as one plan takes; lower it, or split the input", w.replicas, most)
			continue
		}
		total += w.replicas
		due = append(due, w)
		if w.run {
			rep.at(&w.object)
			rep.warn("", "is planned as one run that starts now")
		}
	}
	pods = slices.Grow(pods, int(total))
	for _, w := range due {
		pods = w.expand(r, pods)
	}
	return pods
}

// expand appends the pods of one workload. They share what the template gives.
func (w *workload) expand(r *resolver, pods []cluster.Pod) []cluster.Pod {
	proto := w.pod
	proto.Owner = w.podOwner
	refs := w.refs
	proto.Volumes = slices.Clone(proto.Volumes)
	r.resolve(&proto, &refs)
	prefix := w.object.Name + "-"
	if w.run {
		prefix = w.podOwner.Name + "-"
	}
	names := suffixesOf(w.key())
	for i := range w.replicas {
		pod := proto
		if w.object.Kind == "StatefulSet" {
			w.member(r, &pod, w.start+i)
		} else {
			w.replica(&pod, prefix, names.at(i), i)
		}
		pods = append(pods, pod)
	}
	return pods
}

// replica names one of a number of equal pods. The pods of an indexed Job carry
// their index.
func (w *workload) replica(pod *cluster.Pod, prefix, suffix string, i int64) {
	if w.indexed {
		n := strconv.FormatInt(i, 10)
		w.label(pod, map[string]string{labelCompletionIndex: n})
		prefix += n + "-"
	}
	pod.Name = prefix + suffix
}

// member makes a pod of a StatefulSet: its name and claims are those of its
// ordinal.
func (w *workload) member(r *resolver, pod *cluster.Pod, ordinal int64) {
	n := strconv.FormatInt(ordinal, 10)
	pod.Name = w.object.Name + "-" + n
	w.label(pod, map[string]string{appsv1.StatefulSetPodNameLabel: pod.Name, labelPodIndex: n})
	if len(w.claims)+len(w.refs.ephemeral) == 0 {
		return
	}
	pod.Volumes = slices.Grow(slices.Clone(pod.Volumes), len(w.claims))
	for _, v := range w.refs.ephemeral {
		if claim := pod.Name + "-" + v.name; r.pvcs[pod.Namespace+"/"+claim] {
			pod.Volumes[v.index] = cluster.Volume{Claim: claim}
		}
	}
	for _, t := range w.claims {
		claim := t.name + "-" + pod.Name
		if r.pvcs[pod.Namespace+"/"+claim] {
			pod.Volumes = append(pod.Volumes, cluster.Volume{Claim: claim})
			continue
		}
		var c conversion
		pod.Volumes = append(pod.Volumes, c.claimToCome(t.name, t.class))
		for _, problem := range c.problems {
			addProblem(pod, problem)
		}
	}
}

// label gives a pod labels that the others of its template do not have, and
// completes the selectors that take values from them.
func (w *workload) label(pod *cluster.Pod, labels map[string]string) {
	all := make(map[string]string, len(pod.Labels)+len(labels))
	maps.Copy(all, pod.Labels)
	maps.Copy(all, labels)
	pod.Labels = all
	if w.own == nil {
		return
	}
	takes := func(k string) bool { _, ok := labels[k]; return ok }
	if slices.ContainsFunc(ownKeysOfAffinity(w.own.affinity), takes) {
		pod.Affinity = completeAffinity(w.own.affinity, all)
	}
	if slices.ContainsFunc(ownKeysOfSpread(w.own.spread), takes) {
		pod.Spread = completeSpread(w.own.spread, all)
	}
}

// daemonSet is the DaemonSet with the pod that its controller would make.
func (w *workload) daemonSet(r *resolver) cluster.DaemonSet {
	pod := w.pod
	pod.Owner = w.podOwner
	refs := w.refs
	r.resolve(&pod, &refs)
	return cluster.DaemonSet{Namespace: w.object.Namespace, Name: w.object.Name, Template: pod}
}

// daemonTolerations are those that the DaemonSet controller gives its pods:
// daemons run on nodes that are in trouble too.
func daemonTolerations(hostNetwork bool) []corev1.Toleration {
	of := func(key string, effect corev1.TaintEffect) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
	}
	out := []corev1.Toleration{
		of(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute),
		of(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute),
		of(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule),
		of(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule),
		of(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule),
		of(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule),
	}
	if hostNetwork {
		out = append(out, of(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule))
	}
	return out
}

// hashOf hashes a sequence of words; the same words give the same hash always.
func hashOf(words ...string) uint64 {
	h := fnv.New64a()
	for _, w := range words {
		_, _ = h.Write([]byte(w))
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// alphabet writes hashes in names, five bits a letter.
const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

// letters writes the low bits of a hash as n letters of the alphabet.
func letters(h uint64, n int) string {
	var out [16]byte
	for i := range n {
		out[i] = alphabet[h&31]
		h >>= 5
	}
	return string(out[:n])
}

// suffixKinds are the kinds whose pods end in a suffix. Each has first letters
// of its own, so that a Job and a Deployment of one name do not clash.
var suffixKinds = []string{"Deployment", "ReplicaSet", "Job", "CronJob"}

// suffixes makes the ends of the names of a workload's pods: five letters that
// look as if drawn at random, are the same in every run, and differ between any
// two pods. An odd step goes once through all numbers of 22 bits, of which
// there are more than maxExpanded, from a start that is a hash of the workload.
type suffixes struct{ start, kind uint64 }

func suffixesOf(k workloadKey) suffixes {
	return suffixes{
		start: hashOf(k.kind, k.namespace, k.name),
		kind:  uint64(max(slices.Index(suffixKinds, k.kind), 0)),
	}
}

// at is the suffix of the i-th pod. The first letter has two bits of the number
// and three of the kind, the other four letters the rest.
func (s suffixes) at(i int64) string {
	n := (s.start + uint64(i)*0x9e3779b1) & (1<<22 - 1)
	return letters(n>>2<<5|s.kind<<2|n&3, 5)
}
