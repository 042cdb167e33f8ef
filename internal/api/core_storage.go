package api

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

type pvcObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta                         `json:"metadata,omitempty"`
	Spec            corev1.PersistentVolumeClaimSpec `json:"spec,omitempty"`
	Status          pvcStatus                        `json:"status,omitempty"`
}

type pvcStatus struct {
	Phase corev1.PersistentVolumeClaimPhase `json:"phase"`
}

const (
	annotationSelectedNode     = "volume.kubernetes.io/selected-node"
	annotationBetaStorageClass = "volume.beta.kubernetes.io/storage-class"
	annotationDefaultClass     = "storageclass.kubernetes.io/is-default-class"
	annotationBetaDefaultClass = "storageclass.beta.kubernetes.io/is-default-class"
	// ebsZoneLabel is the name that the EBS driver gives the zone in what it
	// writes into volumes.
	ebsZoneLabel = "topology.ebs.csi.aws.com/zone"
)

// addPVC keeps a persistent volume claim. One that was written by hand has no
// phase: it will be pending.
func (acc *coreAccumulator) addPVC(o *Object, rep *reporter) {
	var from pvcObject
	c := acc.read(o, &from, &from.Metadata, rep)
	pvc := cluster.PVC{
		Namespace: o.Namespace, Name: o.Name,
		StorageClass: from.Spec.StorageClassName,
		VolumeName:   from.Spec.VolumeName,
		Phase:        from.Status.Phase,
		Deleting:     from.Metadata.DeletionTimestamp != nil,
		AccessModes:  from.Spec.AccessModes,
		SelectedNode: from.Metadata.Annotations[annotationSelectedNode],
	}
	if pvc.Phase == "" {
		pvc.Phase = corev1.ClaimPending
	}
	if class, ok := from.Metadata.Annotations[annotationBetaStorageClass]; ok && pvc.StorageClass == nil {
		pvc.StorageClass = &class
	}
	if c.clean() {
		acc.pvcs = append(acc.pvcs, pvc)
	}
}

type pvObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta                    `json:"metadata,omitempty"`
	Spec            corev1.PersistentVolumeSpec `json:"spec,omitempty"`
	Status          skipped                     `json:"status,omitempty"`
}

// addPV keeps a persistent volume.
func (acc *coreAccumulator) addPV(o *Object, rep *reporter) {
	var from pvObject
	c := acc.read(o, &from, &from.Metadata, rep)
	pv := cluster.PV{Name: o.Name, StorageClass: from.Spec.StorageClassName}
	if class, ok := from.Metadata.Annotations[annotationBetaStorageClass]; ok && pv.StorageClass == "" {
		pv.StorageClass = class
	}
	switch {
	case from.Spec.CSI != nil:
		pv.Driver = from.Spec.CSI.Driver
	case from.Spec.AWSElasticBlockStore != nil:
		pv.Driver = ebsDriver
	}
	if from.Spec.NodeAffinity != nil {
		pv.NodeAffinity = from.Spec.NodeAffinity.Required
		normalTerms(pv.NodeAffinity)
	}
	if pv.NodeAffinity == nil {
		pv.NodeAffinity = affinityOfLabels(from.Metadata.Labels)
	}
	if c.clean() {
		acc.pvs = append(acc.pvs, pv)
	}
}

// normalTerms gives the labels of a volume's node affinity their current names,
// in place.
func normalTerms(s *corev1.NodeSelector) {
	if s == nil {
		return
	}
	for i := range s.NodeSelectorTerms {
		for j := range s.NodeSelectorTerms[i].MatchExpressions {
			e := &s.NodeSelectorTerms[i].MatchExpressions[j]
			e.Key = volumeLabel(e.Key)
		}
	}
}

// volumeLabel is the current name of a label in a volume's topology.
func volumeLabel(k string) string {
	if k == ebsZoneLabel {
		return cluster.LabelZone
	}
	return cluster.NormalLabel(k)
}

// affinityOfLabels reads the place of a volume from its labels, which is where
// it stood before volumes had an affinity. Several zones are joined by "__".
func affinityOfLabels(labels map[string]string) *corev1.NodeSelector {
	var term corev1.NodeSelectorTerm
	for _, k := range [...]string{cluster.LabelRegion, cluster.LabelZone} {
		for _, name := range sortedKeys(labels) {
			if cluster.NormalLabel(name) != k {
				continue
			}
			term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{
				Key: k, Operator: corev1.NodeSelectorOpIn, Values: strings.Split(labels[name], "__"),
			})
			break
		}
	}
	if len(term.MatchExpressions) == 0 {
		return nil
	}
	return &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}}
}

type storageClassObject struct {
	metav1.TypeMeta      `json:",inline"`
	Metadata             coreMeta                              `json:"metadata,omitempty"`
	Provisioner          string                                `json:"provisioner"`
	Parameters           map[string]string                     `json:"parameters,omitempty"`
	ReclaimPolicy        *corev1.PersistentVolumeReclaimPolicy `json:"reclaimPolicy,omitempty"`
	MountOptions         []string                              `json:"mountOptions,omitempty"`
	AllowVolumeExpansion *bool                                 `json:"allowVolumeExpansion,omitempty"`
	VolumeBindingMode    *storagev1.VolumeBindingMode          `json:"volumeBindingMode,omitempty"`
	AllowedTopologies    []corev1.TopologySelectorTerm         `json:"allowedTopologies,omitempty"`
}

// addStorageClass keeps a storage class.
func (acc *coreAccumulator) addStorageClass(o *Object, rep *reporter) {
	var from storageClassObject
	c := acc.read(o, &from, &from.Metadata, rep)
	class := cluster.StorageClass{
		Name: o.Name, Provisioner: from.Provisioner, AllowedTopologies: from.AllowedTopologies,
		Default: from.Metadata.Annotations[annotationDefaultClass] == "true" ||
			from.Metadata.Annotations[annotationBetaDefaultClass] == "true",
	}
	if from.Provisioner == "" {
		c.bad("provisioner", "names no provisioner; write one, such as %s", ebsDriver)
	}
	if m := from.VolumeBindingMode; m != nil {
		switch *m {
		case storagev1.VolumeBindingWaitForFirstConsumer:
			class.WaitForConsumer = true
		case storagev1.VolumeBindingImmediate:
		default:
			c.bad("volumeBindingMode", "%q is not allowed; use Immediate or WaitForFirstConsumer", *m)
		}
	}
	c.allowedTopologies(class.AllowedTopologies)
	if c.clean() {
		acc.storageClasses = append(acc.storageClasses, class)
	}
}

// allowedTopologies checks the topologies of a storage class and gives their
// labels their current names, in place.
func (c *conversion) allowedTopologies(list []corev1.TopologySelectorTerm) {
	for i := range list {
		back := c.at("allowedTopologies", i)
		for j := range list[i].MatchLabelExpressions {
			e := &list[i].MatchLabelExpressions[j]
			e.Key = volumeLabel(e.Key)
			if len(e.Values) == 0 {
				c.bad(index("matchLabelExpressions", j)+".values", "needs at least one value")
			}
		}
		c.back(back)
	}
}

type csiNodeObject struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        coreMeta              `json:"metadata,omitempty"`
	Spec            storagev1.CSINodeSpec `json:"spec"`
}

// addCSINode keeps how many volumes each driver attaches to a node.
func (acc *coreAccumulator) addCSINode(o *Object, rep *reporter) {
	var from csiNodeObject
	c := acc.read(o, &from, &from.Metadata, rep)
	limits := make(map[string]int64, len(from.Spec.Drivers))
	for i := range from.Spec.Drivers {
		d := &from.Spec.Drivers[i]
		if d.Allocatable != nil && d.Allocatable.Count != nil && *d.Allocatable.Count >= 0 {
			limits[d.Name] = int64(*d.Allocatable.Count)
		}
	}
	if len(limits) == 0 || !c.clean() {
		return
	}
	if acc.csiLimits == nil {
		acc.csiLimits = make(map[string]map[string]int64)
	}
	acc.csiLimits[o.Name] = limits
}

// claimNames are the claims of the input by namespace/name.
func (acc *coreAccumulator) claimNames() map[string]bool {
	out := make(map[string]bool, len(acc.pvcs))
	for i := range acc.pvcs {
		out[acc.pvcs[i].Namespace+"/"+acc.pvcs[i].Name] = true
	}
	return out
}

// withImplied adds the namespaces that objects stand in and that the input does
// not describe. Every namespace carries its own name as a label.
func withImplied(list []cluster.Namespace, snap *cluster.Snapshot) []cluster.Namespace {
	known := make(map[string]bool, len(list))
	for i := range list {
		known[list[i].Name] = true
	}
	implied := make(map[string]bool)
	add := func(name string) {
		if name != "" && !known[name] {
			implied[name] = true
		}
	}
	for i := range snap.Pods {
		add(snap.Pods[i].Namespace)
	}
	for i := range snap.DaemonSets {
		add(snap.DaemonSets[i].Namespace)
	}
	for _, name := range sortedKeys(implied) {
		list = append(list, cluster.Namespace{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}})
	}
	return slices.Clip(list)
}
