package plan

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// The driver whose volumes an instance type limits, and the provisioner that it
// has taken over.
const (
	ebsDriver = "ebs.csi.aws.com"
	inTreeEBS = "kubernetes.io/aws-ebs"
)

func driverName(name string) string {
	if name == inTreeEBS {
		return ebsDriver
	}
	return name
}

// storage is the snapshot's storage objects by name.
type storage struct {
	claims  map[string]*cluster.PVC // by namespace/name
	volumes map[string]*cluster.PV
	classes map[string]*cluster.StorageClass
	usual   *cluster.StorageClass // the default class
	disks   map[*cluster.Pod][]disk
}

// disk is what one volume of a pod comes to.
type disk struct {
	id        string // the same for the same disk
	driver    string // "" where it is not attached by one
	selectors []int32
	alone     bool   // for one pod at a time
	problem   string // it can be attached nowhere
}

func (c *checker) readStorage() *storage {
	if c.storage != nil {
		return c.storage
	}
	st := &storage{claims: make(map[string]*cluster.PVC, len(c.snap.PVCs)), volumes: make(map[string]*cluster.PV, len(c.snap.PVs)),
		classes: make(map[string]*cluster.StorageClass, len(c.snap.StorageClasses)), disks: map[*cluster.Pod][]disk{}}
	for i := range c.snap.PVCs {
		st.claims[c.snap.PVCs[i].Namespace+"/"+c.snap.PVCs[i].Name] = &c.snap.PVCs[i]
	}
	for i := range c.snap.PVs {
		st.volumes[c.snap.PVs[i].Name] = &c.snap.PVs[i]
	}
	for i := range c.snap.StorageClasses {
		k := &c.snap.StorageClasses[i]
		st.classes[k.Name] = k
		if k.Default && (st.usual == nil || k.Name < st.usual.Name) {
			st.usual = k
		}
	}
	c.storage = st
	return st
}

// checkVolumes asks that the volumes of each placed pod can be attached to its
// node, beside those of the others.
func (c *checker) checkVolumes() {
	lone := map[string]*cluster.Pod{} // disks for one pod at a time, with who has them
	for _, s := range c.sites {
		var mine []string // drivers of the disks that the plan brings
		for _, p := range s.pods {
			for _, d := range c.disksOf(p) {
				c.checkDisk(s, p, d)
				if d.driver != "" && !slices.Contains(mine, d.driver) {
					mine = append(mine, d.driver)
				}
				if d.alone {
					if q := lone[d.id]; q != nil && q != p {
						c.faults.say(RuleVolumes, s.name, p.Key(), "%s is for one pod at a time, and pod %s is placed with it", d.id, q.Key())
					}
					lone[d.id] = p
				}
			}
		}
		c.checkAttached(s, mine)
	}
	if len(lone) > 0 {
		c.checkTaken(lone)
	}
}

// checkDisk asks that one disk can be reached from a node.
func (c *checker) checkDisk(s *site, p *cluster.Pod, d disk) {
	if d.problem != "" {
		c.faults.say(RuleVolumes, s.name, p.Key(), "%s", d.problem)
		return
	}
	for _, id := range d.selectors {
		c.checkNodeAffinity(s, p, id, RuleVolumes, d.id+" cannot be reached")
	}
}

// checkAttached counts the disks of each driver that the plan brings to a node.
func (c *checker) checkAttached(s *site, drivers []string) {
	for _, driver := range drivers {
		limit, ok := c.attachLimit(s, driver)
		if !ok {
			continue
		}
		ids := map[string]bool{}
		for _, pods := range [2][]*cluster.Pod{s.pods, s.bound} {
			for _, p := range pods {
				for _, d := range c.disksOf(p) {
					if d.driver == driver && d.problem == "" {
						ids[d.id] = true
					}
				}
			}
		}
		if int64(len(ids)) > limit {
			c.faults.say(RuleVolumes, s.name, "", "%d volumes of %s, it attaches %d", len(ids), driver, limit)
		}
	}
}

// attachLimit is how many volumes of a driver a node attaches; ok is false where
// no limit is known.
func (c *checker) attachLimit(s *site, driver string) (limit int64, ok bool) {
	switch {
	case s.node != nil:
		if limit, ok = s.node.VolumeLimits[driver]; !ok && driver == ebsDriver {
			limit, ok = s.node.VolumeLimits[inTreeEBS]
		}
		return limit, ok
	case driver != ebsDriver:
		return 0, false
	case s.claim != nil:
		t := c.typeOfClaim(s.claim, s.labels[cluster.LabelInstanceType])
		return attachedBy(t)
	case s.choice == nil:
		return 0, false
	}
	v := s.choice.t.pool
	for _, o := range s.choice.offers {
		if n, known := attachedBy(&v.types[v.offers[o].typ]); known && (!ok || n < limit) {
			limit, ok = n, true
		}
	}
	return limit, ok
}

func attachedBy(t *cluster.InstanceType) (int64, bool) {
	if t == nil || t.VolumeLimit <= 0 {
		return 0, false
	}
	return t.VolumeLimit, true
}

// checkTaken asks that no running pod has a disk that is for one pod at a time
// and that a placed pod brings.
func (c *checker) checkTaken(lone map[string]*cluster.Pod) {
	for i, k := range c.boundTo {
		if k < 0 {
			continue
		}
		q := &c.snap.Pods[i]
		for _, d := range c.disksOf(q) {
			if p := lone[d.id]; p != nil {
				c.faults.say(RuleVolumes, "", p.Key(), "%s is for one pod at a time, and pod %s has it", d.id, q.Key())
			}
		}
	}
}

// disksOf resolves the volumes of a pod.
func (c *checker) disksOf(p *cluster.Pod) []disk {
	if len(p.Volumes) == 0 {
		return nil
	}
	st := c.readStorage()
	if ds, ok := st.disks[p]; ok {
		return ds
	}
	out := make([]disk, len(p.Volumes))
	for i := range p.Volumes {
		out[i] = c.resolve(p, i)
	}
	st.disks[p] = out
	return out
}

func (c *checker) resolve(p *cluster.Pod, i int) disk {
	v := &p.Volumes[i]
	own := p.Key() + " volume " + strconv.Itoa(i)
	if v.Driver != "" {
		return disk{id: "inline " + own, driver: driverName(v.Driver)}
	}
	if v.Ephemeral {
		return c.newDisk("ephemeral "+own, c.classOf(v.StorageClass))
	}
	claim := c.storage.claims[p.Namespace+"/"+v.Claim]
	if claim == nil {
		return disk{problem: "its claim " + v.Claim + " is not there"}
	}
	if claim.Deleting || claim.Phase == corev1.ClaimLost {
		return disk{problem: "its claim " + v.Claim + " is being deleted or lost"}
	}
	d := disk{}
	if claim.VolumeName != "" {
		d = c.boundDisk(claim.VolumeName)
	} else {
		d = c.unboundDisk(claim)
	}
	d.alone = slices.Contains(claim.AccessModes, corev1.ReadWriteOncePod)
	return d
}

// classOf finds a storage class; "" is the default one. It is nil when there is
// none.
func (c *checker) classOf(name string) *cluster.StorageClass {
	if name == "" {
		return c.storage.usual
	}
	return c.storage.classes[name]
}

// unboundDisk is the disk of a claim that no volume has been found for. A claim
// whose class is "" waits for a volume that somebody makes by hand.
func (c *checker) unboundDisk(claim *cluster.PVC) disk {
	id := "claim " + claim.Namespace + "/" + claim.Name
	sc := c.storage.usual
	if claim.StorageClass != nil {
		sc = c.storage.classes[*claim.StorageClass]
	}
	if sc != nil && !sc.WaitForConsumer {
		return disk{id: id, problem: id + " is unbound and its class " + sc.Name + " binds at once"}
	}
	return c.newDisk(id, sc)
}

func (c *checker) boundDisk(name string) disk {
	pv := c.storage.volumes[name]
	if pv == nil {
		return disk{problem: "its volume " + name + " is not there"}
	}
	d := disk{id: "volume " + name, driver: driverName(pv.Driver)}
	if pv.NodeAffinity != nil {
		d.selectors = append(d.selectors, c.selector(nil, pv.NodeAffinity))
	}
	return d
}

// newDisk is a disk that its class will make where the first pod lands.
func (c *checker) newDisk(id string, class *cluster.StorageClass) disk {
	if class == nil {
		return disk{id: id, problem: "the storage class of " + id + " is not there"}
	}
	d := disk{id: id, driver: driverName(class.Provisioner)}
	if s := asNodeSelector(class.AllowedTopologies); s != nil {
		d.selectors = append(d.selectors, c.selector(nil, s))
	}
	return d
}

// asNodeSelector writes the topologies of a storage class as the node selector
// that means the same; nil when they leave every node.
func asNodeSelector(terms []corev1.TopologySelectorTerm) *corev1.NodeSelector {
	var out *corev1.NodeSelector
	for i := range terms {
		if len(terms[i].MatchLabelExpressions) == 0 {
			return nil
		}
		var t corev1.NodeSelectorTerm
		for _, e := range terms[i].MatchLabelExpressions {
			t.MatchExpressions = append(t.MatchExpressions, corev1.NodeSelectorRequirement{Key: e.Key, Operator: corev1.NodeSelectorOpIn, Values: e.Values})
		}
		if out == nil {
			out = &corev1.NodeSelector{}
		}
		out.NodeSelectorTerms = append(out.NodeSelectorTerms, t)
	}
	return out
}
