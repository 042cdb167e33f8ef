package scheduling

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// ebsDriver is the driver whose volumes an instance type limits.
const ebsDriver = "ebs.csi.aws.com"

// inTreeEBS is the provisioner that is served by the EBS driver now.
const inTreeEBS = "kubernetes.io/aws-ebs"

// volumeNeeds is what a pod's volumes ask of its node.
type volumeNeeds struct {
	terms   []term // nil: nothing; else one of them
	attach  map[string]int64
	problem string // why the pod cannot be planned
}

// typeVolumeLimit is how many volumes of a driver a new node can attach.
func typeVolumeLimit(t *cluster.InstanceType, driver string) int64 {
	if driver == ebsDriver && t.VolumeLimit > 0 {
		return t.VolumeLimit
	}
	return 1 << 30
}

// VolumeLimits is how many volumes of each driver a node of a type attaches before
// its CSINode says so; a driver that is absent has no limit.
func VolumeLimits(t *cluster.InstanceType) map[string]int64 {
	if t.VolumeLimit <= 0 {
		return nil
	}
	return map[string]int64{ebsDriver: t.VolumeLimit}
}

// volumesOf resolves a pod's volumes against the storage objects.
func (s *solver) volumesOf(p *cluster.Pod) volumeNeeds {
	needs := volumeNeeds{}
	seen := map[string]bool{}
	for i := range p.Volumes {
		v := &p.Volumes[i]
		if v.Driver != "" {
			needs.count(v.Driver)
			continue
		}
		if v.Ephemeral {
			s.unbound(&needs, className(v.StorageClass), fmt.Sprintf("the ephemeral volume %q", v.Claim))
		} else if !seen[v.Claim] {
			seen[v.Claim] = true
			s.claimed(&needs, p, v.Claim)
		}
		if needs.problem != "" {
			return needs
		}
	}
	return needs
}

func (n *volumeNeeds) count(driver string) {
	if driver == inTreeEBS {
		driver = ebsDriver
	}
	if n.attach == nil {
		n.attach = map[string]int64{}
	}
	n.attach[driver]++
}

func (n *volumeNeeds) restrict(terms []term) {
	if n.terms == nil {
		n.terms = terms
		return
	}
	var out []term
	for _, a := range n.terms {
		for _, b := range terms {
			if j := a.andTerm(b); !j.impossible() {
				out = append(out, j)
			}
		}
	}
	n.terms = out
	if len(out) == 0 {
		n.problem = "its volumes stand in different zones: no node can have them all; move or recreate one of them"
	}
}

// claimed resolves a use of a PVC.
func (s *solver) claimed(n *volumeNeeds, p *cluster.Pod, name string) {
	pvc := s.p.Volumes.Claims[p.Namespace+"/"+name]
	switch {
	case pvc == nil:
		n.problem = fmt.Sprintf("PersistentVolumeClaim %q is not in namespace %q: create it, or correct the pod's volumes", name, p.Namespace)
	case pvc.Deleting:
		n.problem = fmt.Sprintf("PersistentVolumeClaim %q is being deleted: recreate it, or point the pod at another", name)
	case pvc.Phase == corev1.ClaimLost:
		n.problem = fmt.Sprintf("PersistentVolumeClaim %q is Lost (its volume is gone): restore the volume or recreate the claim", name)
	case pvc.VolumeName != "":
		s.bound(n, pvc)
	default:
		s.unbound(n, pvc.StorageClass, fmt.Sprintf("PersistentVolumeClaim %q", name))
	}
}

func (s *solver) bound(n *volumeNeeds, pvc *cluster.PVC) {
	pv := s.p.Volumes.PVs[pvc.VolumeName]
	if pv == nil {
		n.problem = fmt.Sprintf("PersistentVolume %q, to which PersistentVolumeClaim %q is bound, is not there", pvc.VolumeName, pvc.Name)
		return
	}
	if pv.Driver != "" {
		n.count(pv.Driver)
	}
	if pv.NodeAffinity != nil {
		if terms := crossSelector([]term{nil}, pv.NodeAffinity); len(terms) > 0 {
			n.restrict(terms)
		} else {
			n.problem = fmt.Sprintf("the node affinity of PersistentVolume %q matches no node", pv.Name)
		}
	}
}

// unbound resolves a volume that is made where its first pod lands.
func (s *solver) unbound(n *volumeNeeds, class *string, what string) {
	var sc *cluster.StorageClass
	switch {
	case class != nil && *class == "":
		n.problem = what + " is unbound and asks for no StorageClass (storageClassName is empty): bind it to a PersistentVolume, or name a class"
		return
	case class != nil:
		if sc = s.p.Volumes.Classes[*class]; sc == nil {
			n.problem = fmt.Sprintf("%s names StorageClass %q, which is not there: create it, or name another", what, *class)
			return
		}
	default:
		if sc = s.defaultClass(); sc == nil {
			n.problem = what + " is unbound and has no StorageClass, and there is no default one: set storageClassName"
			return
		}
	}
	if !sc.WaitForConsumer {
		n.problem = fmt.Sprintf("%s is unbound and its StorageClass %q binds immediately: wait until it is bound, or use volumeBindingMode WaitForFirstConsumer", what, sc.Name)
		return
	}
	if sc.Provisioner != "" {
		n.count(sc.Provisioner)
	}
	if len(sc.AllowedTopologies) > 0 {
		var terms []term
		for _, at := range sc.AllowedTopologies {
			var t term
			for _, e := range at.MatchLabelExpressions {
				t = t.and(requirementKey(e.Key), oneOf(e.Values...))
			}
			if !t.impossible() {
				terms = append(terms, t)
			}
		}
		if len(terms) == 0 {
			n.problem = fmt.Sprintf("the allowedTopologies of StorageClass %q contradict each other", sc.Name)
			return
		}
		n.restrict(terms)
	}
}

// className is the class that an ephemeral volume's template names, nil for none.
func className(name string) *string {
	if name == "" {
		return nil
	}
	return &name
}

func (s *solver) defaultClass() *cluster.StorageClass {
	var found *cluster.StorageClass
	for _, k := range sortedKeys(s.p.Volumes.Classes) {
		if sc := s.p.Volumes.Classes[k]; sc.Default && (found == nil || strings.Compare(sc.Name, found.Name) < 0) {
			found = sc
		}
	}
	return found
}
