package naive

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// volumes are the snapshot's storage objects by name.
type volumes struct {
	claims       map[string]*cluster.PVC // namespace/name
	pvs          map[string]*cluster.PV
	classes      map[string]*cluster.StorageClass
	defaultClass *cluster.StorageClass
}

func readVolumes(snap *cluster.Snapshot) volumes {
	v := volumes{claims: map[string]*cluster.PVC{}, pvs: map[string]*cluster.PV{}, classes: map[string]*cluster.StorageClass{}}
	for i := range snap.PVCs {
		v.claims[snap.PVCs[i].Namespace+"/"+snap.PVCs[i].Name] = &snap.PVCs[i]
	}
	for i := range snap.PVs {
		v.pvs[snap.PVs[i].Name] = &snap.PVs[i]
	}
	for i := range snap.StorageClasses {
		s := &snap.StorageClasses[i]
		v.classes[s.Name] = s
		if s.Default && (v.defaultClass == nil || s.Name < v.defaultClass.Name) {
			v.defaultClass = s
		}
	}
	return v
}

// storage is what one volume of a pod comes to: a key that is the same for the
// same disk, its driver, and where it can be attached.
type storage struct {
	id, driver string
	affinity   *corev1.NodeSelector
	allowed    []corev1.TopologySelectorTerm
	alone      bool   // only one pod may use it at a time
	problem    string // it can be attached nowhere
}

func (v volumes) resolve(p *cluster.Pod, i int) storage {
	x := p.Volumes[i]
	switch {
	case x.Driver != "":
		return storage{id: fmt.Sprintf("inline %s %d", p.Key(), i), driver: x.Driver}
	case x.Ephemeral:
		class := v.defaultClass
		if x.StorageClass != "" {
			class = v.classes[x.StorageClass]
		}
		return ofClass(fmt.Sprintf("ephemeral %s %d", p.Key(), i), class)
	}
	claim := v.claims[p.Namespace+"/"+x.Claim]
	if claim == nil {
		return storage{problem: "claim " + x.Claim + " is not there"}
	}
	if claim.Deleting || claim.Phase == corev1.ClaimLost {
		return storage{problem: "claim " + x.Claim + " is being deleted or lost"}
	}
	s := v.resolveClaim(claim)
	s.alone = slices.Contains(claim.AccessModes, corev1.ReadWriteOncePod)
	return s
}

func (v volumes) resolveClaim(claim *cluster.PVC) storage {
	id := "claim " + claim.Namespace + "/" + claim.Name
	if claim.VolumeName != "" {
		pv := v.pvs[claim.VolumeName]
		if pv == nil {
			return storage{id: id, problem: "volume " + claim.VolumeName + " is not there"}
		}
		return storage{id: "pv " + pv.Name, driver: pv.Driver, affinity: pv.NodeAffinity}
	}
	class := v.defaultClass
	if claim.StorageClass != nil {
		class = v.classes[*claim.StorageClass]
	}
	s := ofClass(id, class)
	if class != nil && !class.WaitForConsumer {
		s.problem = "claim " + claim.Name + " is unbound and its class binds at once"
	}
	return s
}

func ofClass(id string, class *cluster.StorageClass) storage {
	if class == nil {
		return storage{id: id, problem: "its storage class is not there"}
	}
	return storage{id: id, driver: class.Provisioner, allowed: class.AllowedTopologies}
}

// volumeRefusals says why the pod's volumes cannot be on a node: where they
// are, who else uses them, and how many the node attaches.
func (c *checker) volumeRefusals(p *cluster.Pod, n *node) []string {
	var out []string
	for i := range p.Volumes {
		s := c.vols.resolve(p, i)
		switch {
		case s.problem != "":
			out = append(out, s.problem)
		case !nodeSelectorMatches(s.affinity, n.labels):
			out = append(out, s.id+" cannot be reached from here")
		case !topologyAllowed(s.allowed, n.labels):
			out = append(out, s.id+" is not allowed in this topology")
		case s.alone && c.usedElsewhere(p, s.id):
			out = append(out, s.id+" is for one pod at a time and has another")
		}
	}
	return append(out, c.overAttached(p, n)...)
}

// zoneRefusals is what the scheduler does not ask yet and will: a volume of EBS
// that is still to be made will be in the zone of its first user, and whoever
// shares the claim must be there too.
func (c *checker) zoneRefusals(w *world, p *cluster.Pod, n *node) []string {
	var out []string
	for i := range p.Volumes {
		s := c.vols.resolve(p, i)
		if p.Volumes[i].Claim == "" || p.Volumes[i].Ephemeral || s.driver != ebsDriver || !strings.HasPrefix(s.id, "claim ") {
			continue
		}
		for _, m := range w.nodes {
			for _, q := range m.pods {
				if q == p || m == n {
					continue
				}
				for k := range q.Volumes {
					a, b := m.labels[cluster.LabelZone], n.labels[cluster.LabelZone]
					if c.vols.resolve(q, k).id == s.id && !q.Volumes[k].Ephemeral && (a != b || a == "") {
						out = append(out, s.id+" is not bound yet and has another user, "+q.Key()+", in zone "+a)
					}
				}
			}
		}
	}
	return out
}

// overAttached counts the different disks of each driver on a node. Only the
// drivers that the pod brings a disk of concern it.
func (c *checker) overAttached(p *cluster.Pod, n *node) []string {
	disks := map[string]map[string]bool{}
	note := func(q *cluster.Pod, only map[string]bool) {
		for i := range q.Volumes {
			if s := c.vols.resolve(q, i); s.driver != "" && s.problem == "" && (only == nil || only[s.driver]) {
				if disks[s.driver] == nil {
					disks[s.driver] = map[string]bool{}
				}
				disks[s.driver][s.id] = true
			}
		}
	}
	note(p, nil)
	mine := map[string]bool{}
	for d := range disks {
		mine[d] = true
	}
	for _, q := range n.pods {
		if q != p {
			note(q, mine)
		}
	}
	var out []string
	for _, d := range slices.Sorted(maps.Keys(disks)) {
		if limit, ok := n.limits[d]; ok && int64(len(disks[d])) > limit {
			out = append(out, fmt.Sprintf("%d volumes of %s, the node attaches %d", len(disks[d]), d, limit))
		}
	}
	return out
}

func (c *checker) usedElsewhere(p *cluster.Pod, id string) bool {
	for _, n := range c.world.nodes {
		for _, q := range n.pods {
			if q == p {
				continue
			}
			for i := range q.Volumes {
				if c.vols.resolve(q, i).id == id {
					return true
				}
			}
		}
	}
	return false
}

// topologyAllowed ORs the terms of a storage class and ANDs their expressions.
func topologyAllowed(terms []corev1.TopologySelectorTerm, labels map[string]string) bool {
	if len(terms) == 0 {
		return true
	}
	return slices.ContainsFunc(terms, func(t corev1.TopologySelectorTerm) bool {
		return !slices.ContainsFunc(t.MatchLabelExpressions, func(e corev1.TopologySelectorLabelRequirement) bool {
			return !holds(labels, e.Key, "In", e.Values)
		})
	})
}
