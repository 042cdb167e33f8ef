package api

import (
	"encoding/json"
	"hash/fnv"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// Labels that controllers give to the pods that they make.
const (
	labelPodIndex        = "apps.kubernetes.io/pod-index"
	labelCompletionIndex = batchv1.JobCompletionIndexAnnotation
)

// workload is a controller of pods, reduced to the pods that it would make.
type workload struct {
	object   Object // without its bytes
	path     string // of the field that says how many pods there are
	owner    cluster.Owner
	uid      string
	selector *metav1.LabelSelector

	replicas int64
	start    int64 // the first ordinal of a StatefulSet
	indexed  bool  // a Job that gives each pod an index
	run      bool  // a CronJob, as one run of it

	podOwner cluster.Owner // of the pods
	pod      cluster.Pod   // as the controller would make it, without a name
	refs     podRefs
	claims   []claimTemplate // of a StatefulSet
	// own are the affinity and the spread before the pod's own label values are
	// put into them; set only where those values differ from pod to pod.
	own *ownSelectors
}

// claimTemplate is a volume claim that a StatefulSet makes for each pod.
type claimTemplate struct {
	name  string
	class *string
}

// ownSelectors are the parts of a pod whose selectors may take values from the
// pod's own labels.
type ownSelectors struct {
	affinity *corev1.Affinity
	spread   []corev1.TopologySpreadConstraint
}

// key names the workload.
func (w *workload) key() workloadKey {
	return workloadKey{w.object.Kind, w.object.Namespace, w.object.Name}
}

type workloadKey struct{ kind, namespace, name string }

// template converts the pod template in a field. The labels are those that the controller
// adds to the template's own.
func (c *conversion) template(o *Object, path string, t *corev1.PodTemplateSpec, labels map[string]string) workload {
	w := workload{object: *o}
	w.object.Raw = nil
	all := t.Labels
	if len(labels) > 0 {
		all = make(map[string]string, len(t.Labels)+len(labels))
		for k, v := range t.Labels {
			all[k] = v
		}
		for k, v := range labels {
			all[k] = v
		}
	}
	defer c.back(c.in(path))
	c.checkLabels("metadata.labels", t.Labels)
	raw := ownSelectors{affinity: t.Spec.Affinity, spread: t.Spec.TopologySpreadConstraints}
	w.pod, w.refs = c.podSpec("spec", &t.Spec, &podStatus{}, all)
	w.refs.written = true
	if len(ownKeysOfAffinity(raw.affinity))+len(ownKeysOfSpread(raw.spread)) > 0 {
		w.own = &raw
	}
	w.pod.Namespace = o.Namespace
	w.pod.Labels = all
	w.pod.Annotations = ownAnnotations(t.Annotations)
	w.pod.Phase = corev1.PodPending
	w.pod.Gated = len(t.Spec.SchedulingGates) > 0
	w.pod.Unschedulable = !w.pod.Gated && t.Spec.NodeName == ""
	w.pod.NodeName = t.Spec.NodeName
	return w
}

type deploymentObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta              `json:"metadata,omitempty"`
	Spec            appsv1.DeploymentSpec `json:"spec,omitempty"`
	Status          skipped               `json:"status,omitempty"`
}

// addDeployment keeps a Deployment. Its pods belong to the ReplicaSet of its
// template, which carries a hash of it.
func (acc *coreAccumulator) addDeployment(o *Object, rep *reporter) {
	var from deploymentObject
	c := acc.read(o, &from, &from.Metadata, rep)
	hash := templateHash(&from.Spec.Template)
	w := c.template(o, "spec.template", &from.Spec.Template, map[string]string{appsv1.DefaultDeploymentUniqueLabelKey: hash})
	w.common(&from.Metadata, from.Spec.Selector, &c)
	w.replicas, w.path = c.replicas("spec.replicas", from.Spec.Replicas), "spec.replicas"
	w.podOwner = cluster.Owner{Kind: "ReplicaSet", Name: o.Name + "-" + hash}
	acc.keep(w, &c)
}

type replicaSetObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta              `json:"metadata,omitempty"`
	Spec            appsv1.ReplicaSetSpec `json:"spec,omitempty"`
	Status          skipped               `json:"status,omitempty"`
}

// addReplicaSet keeps a ReplicaSet.
func (acc *coreAccumulator) addReplicaSet(o *Object, rep *reporter) {
	var from replicaSetObject
	c := acc.read(o, &from, &from.Metadata, rep)
	w := c.template(o, "spec.template", &from.Spec.Template, nil)
	w.common(&from.Metadata, from.Spec.Selector, &c)
	w.replicas, w.path = c.replicas("spec.replicas", from.Spec.Replicas), "spec.replicas"
	acc.keep(w, &c)
}

type statefulSetObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta        `json:"metadata,omitempty"`
	Spec            statefulSetSpec `json:"spec,omitempty"`
	Status          skipped         `json:"status,omitempty"`
}

// statefulSetSpec is the spec of a StatefulSet with claim templates whose status
// and managed fields are passed over.
type statefulSetSpec struct {
	Replicas             *int32                                                  `json:"replicas,omitempty"`
	Selector             *metav1.LabelSelector                                   `json:"selector"`
	Template             corev1.PodTemplateSpec                                  `json:"template"`
	VolumeClaimTemplates []statefulSetClaim                                      `json:"volumeClaimTemplates,omitempty"`
	ServiceName          string                                                  `json:"serviceName,omitempty"`
	PodManagementPolicy  appsv1.PodManagementPolicyType                          `json:"podManagementPolicy,omitempty"`
	UpdateStrategy       appsv1.StatefulSetUpdateStrategy                        `json:"updateStrategy,omitempty"`
	RevisionHistoryLimit *int32                                                  `json:"revisionHistoryLimit,omitempty"`
	MinReadySeconds      int32                                                   `json:"minReadySeconds,omitempty"`
	ClaimRetention       *appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy `json:"persistentVolumeClaimRetentionPolicy,omitempty"`
	Ordinals             *appsv1.StatefulSetOrdinals                             `json:"ordinals,omitempty"`
}

type statefulSetClaim struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta                         `json:"metadata,omitempty"`
	Spec            corev1.PersistentVolumeClaimSpec `json:"spec,omitempty"`
	Status          skipped                          `json:"status,omitempty"`
}

// addStatefulSet keeps a StatefulSet.
func (acc *coreAccumulator) addStatefulSet(o *Object, rep *reporter) {
	var from statefulSetObject
	c := acc.read(o, &from, &from.Metadata, rep)
	hash := templateHash(&from.Spec.Template)
	w := c.template(o, "spec.template", withoutClaimed(&from.Spec), map[string]string{appsv1.ControllerRevisionHashLabelKey: o.Name + "-" + hash})
	w.common(&from.Metadata, from.Spec.Selector, &c)
	w.replicas, w.path = c.replicas("spec.replicas", from.Spec.Replicas), "spec.replicas"
	if from.Spec.Ordinals != nil {
		if w.start = int64(from.Spec.Ordinals.Start); w.start < 0 {
			c.bad("spec.ordinals.start", "is negative; use 0 or more")
		}
	}
	for i := range from.Spec.VolumeClaimTemplates {
		t := &from.Spec.VolumeClaimTemplates[i]
		if t.Metadata.Name == "" {
			c.bad(index("spec.volumeClaimTemplates", i)+".metadata.name", "is missing; it is the name of the volume in the pod")
			continue
		}
		class := t.Spec.StorageClassName
		if name, ok := t.Metadata.Annotations[annotationBetaStorageClass]; ok && class == nil {
			class = &name
		}
		w.claims = append(w.claims, claimTemplate{name: t.Metadata.Name, class: class})
	}
	acc.keep(w, &c)
}

// withoutClaimed is the pod template without the sources of the volumes that a
// claim template of the same name replaces.
func withoutClaimed(spec *statefulSetSpec) *corev1.PodTemplateSpec {
	t := spec.Template
	t.Spec.Volumes = slices.Clone(t.Spec.Volumes)
	for i := range t.Spec.Volumes {
		v := &t.Spec.Volumes[i]
		if slices.ContainsFunc(spec.VolumeClaimTemplates, func(c statefulSetClaim) bool { return c.Metadata.Name == v.Name }) {
			*v = corev1.Volume{Name: v.Name}
		}
	}
	return &t
}

type jobObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta        `json:"metadata,omitempty"`
	Spec            batchv1.JobSpec `json:"spec,omitempty"`
	Status          jobStatus       `json:"status,omitempty"`
}

type jobStatus struct {
	Succeeded  int64             `json:"succeeded"`
	Conditions []statusCondition `json:"conditions"`
}

// ended tells whether a Job makes no more pods.
func (s *jobStatus) ended() bool {
	for _, kind := range [...]batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed, batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget} {
		if c := findCondition(s.Conditions, string(kind)); c != nil && c.Status == string(corev1.ConditionTrue) {
			return true
		}
	}
	return false
}

// addJob keeps a Job.
func (acc *coreAccumulator) addJob(o *Object, rep *reporter) {
	var from jobObject
	c := acc.read(o, &from, &from.Metadata, rep)
	w := c.job(o, "spec", o.Name, &from.Spec, &from.Status)
	w.common(&from.Metadata, from.Spec.Selector, &c)
	acc.keep(w, &c)
}

// job converts the spec of a Job in a field: the pods that would run at once.
func (c *conversion) job(o *Object, path, name string, from *batchv1.JobSpec, status *jobStatus) workload {
	w := c.template(o, path+".template", &from.Template, map[string]string{batchv1.JobNameLabel: name, "job-name": name})
	w.podOwner = cluster.Owner{Kind: "Job", Name: name}
	w.path = path + ".parallelism"
	w.replicas = c.replicas(w.path, from.Parallelism)
	if from.Completions != nil {
		left := c.replicas(path+".completions", from.Completions) - status.Succeeded
		w.replicas = min(w.replicas, max(left, 0))
	}
	w.indexed = from.CompletionMode != nil && *from.CompletionMode == batchv1.IndexedCompletion
	if from.Suspend != nil && *from.Suspend || status.ended() {
		w.replicas = 0
	}
	return w
}

type cronJobObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta            `json:"metadata,omitempty"`
	Spec            batchv1.CronJobSpec `json:"spec,omitempty"`
	Status          skipped             `json:"status,omitempty"`
}

// addCronJob keeps a CronJob as one run of it.
func (acc *coreAccumulator) addCronJob(o *Object, rep *reporter) {
	var from cronJobObject
	c := acc.read(o, &from, &from.Metadata, rep)
	if from.Spec.Schedule == "" {
		c.bad("spec.schedule", "needs a schedule of five cron fields")
	}
	job := o.Name + "-" + letters(hashOf("CronJob", o.Namespace, o.Name), 8)
	w := c.job(o, "spec.jobTemplate.spec", job, &from.Spec.JobTemplate.Spec, &jobStatus{})
	w.common(&from.Metadata, nil, &c)
	w.run = true
	if from.Spec.Suspend != nil && *from.Spec.Suspend {
		w.replicas = 0
	}
	acc.keep(w, &c)
}

type daemonSetObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta             `json:"metadata,omitempty"`
	Spec            appsv1.DaemonSetSpec `json:"spec,omitempty"`
	Status          skipped              `json:"status,omitempty"`
}

// addDaemonSet keeps a DaemonSet.
func (acc *coreAccumulator) addDaemonSet(o *Object, rep *reporter) {
	var from daemonSetObject
	c := acc.read(o, &from, &from.Metadata, rep)
	hostNetwork := from.Spec.Template.Spec.HostNetwork
	w := c.template(o, "spec.template", &from.Spec.Template, nil)
	w.common(&from.Metadata, from.Spec.Selector, &c)
	if !c.clean() {
		return
	}
	w.pod.Tolerations = withTolerations(w.pod.Tolerations, daemonTolerations(hostNetwork))
	acc.daemons = append(acc.daemons, w)
}

type podTemplateObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta               `json:"metadata,omitempty"`
	Template        corev1.PodTemplateSpec `json:"template,omitempty"`
}

// addPodTemplate keeps a PodTemplate, which capacity buffers refer to.
func (acc *coreAccumulator) addPodTemplate(o *Object, rep *reporter) {
	var from podTemplateObject
	c := acc.read(o, &from, &from.Metadata, rep)
	w := c.template(o, "template", &from.Template, nil)
	if !c.clean() {
		return
	}
	if acc.templates == nil {
		acc.templates = make(map[string]workload)
	}
	acc.templates[o.Namespace+"/"+o.Name] = w
}

// common sets what every workload has, and checks that it would find its pods.
func (w *workload) common(m *coreMeta, selector *metav1.LabelSelector, c *conversion) {
	w.owner, w.uid, w.selector = m.owner(), m.UID, selector
	if w.podOwner.Kind == "" {
		w.podOwner = cluster.Owner{Kind: w.object.Kind, Name: w.object.Name, UID: w.uid}
	}
	if selector == nil {
		if w.object.Kind != "Job" && w.object.Kind != "CronJob" {
			c.odd("spec.selector", "is missing, so the API server refuses the object; repeat the labels of the template in matchLabels")
		}
		return
	}
	c.labelSelector("spec.selector", selector)
	if !c.clean() || w.object.Kind == "Job" {
		return // a server adds labels to a Job's template that identify the Job
	}
	if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 || !cluster.Matches(selector, w.pod.Labels) {
		c.bad("spec.selector", "does not match the labels of spec.template.metadata.labels; make the two agree")
	}
}

// keep keeps the workload when reading it has found nothing wrong.
func (acc *coreAccumulator) keep(w workload, c *conversion) {
	if c.clean() {
		acc.workloads = append(acc.workloads, w)
	}
}

// replicas checks a number of pods; nothing said is one.
func (c *conversion) replicas(path string, n *int32) int64 {
	if n == nil {
		return 1
	}
	if *n < 0 {
		c.bad(path, "%d is negative; use 0 or more", *n)
		return 0
	}
	return int64(*n)
}

// templateHash is a hash of a pod template in the form that Deployments give
// it in labels and names.
func templateHash(t *corev1.PodTemplateSpec) string {
	h := fnv.New64a()
	// A template that was decoded from JSON can be encoded again.
	data, _ := json.Marshal(t)
	_, _ = h.Write(data)
	return letters(h.Sum64(), 10)
}
