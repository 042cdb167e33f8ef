package plan

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/catalog"
	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// poolView is what a NodePool's nodes can be: its types with the overlays
// applied, and of their offerings those that a launch may use.
type poolView struct {
	spec      *cluster.NodePool
	class     *cluster.NodeClass // nil: the defaults
	labels    map[string]string  // of the template, under their current names
	types     []cluster.InstanceType
	byName    map[string]int32
	offers    []offer
	first     []int32 // first[t] to first[t+1] are the offers of type t
	templates map[string]*template
	ofTypes   map[string]bool // label keys that some type has, as far as asked for
}

// offer is an offering that may be launched. Its zone and its capacity type are
// numbers beside the names, for comparing.
type offer struct {
	typ, zone, kind int32
	*cluster.Offering
}

// template is what the nodes of a pool have in common that carry the same labels
// of their own beside those of the pool.
type template struct {
	pool   *poolView
	custom map[string]string
	region string
	rules  []tribool   // by offer: whether the pool may launch it
	fits   [][]tribool // by selector, then by offer, or by type where that is enough
	runs   []bool      // by daemon: whether it tolerates the pool's taints
	labels map[string]*column
}

// tribool is an answer that may not have been looked for yet.
type tribool uint8

const (
	unknown tribool = iota
	no
	yes
)

func answer(b bool) tribool {
	if b {
		return yes
	}
	return no
}

// view reads a NodePool once; nil when there is none of the name.
func (c *checker) view(name string) *poolView {
	if v, ok := c.views[name]; ok {
		return v
	}
	spec := c.pools[name]
	if spec == nil {
		c.views[name] = nil
		return nil
	}
	v := &poolView{spec: spec, class: c.classes[spec.NodeClass.Name], labels: make(map[string]string, len(spec.Labels)), templates: map[string]*template{}, ofTypes: map[string]bool{}}
	for k, l := range spec.Labels {
		v.labels[cluster.NormalLabel(k)] = l
	}
	v.types = c.typesOfClass(spec.NodeClass.Name)
	if len(c.snap.Overlays) > 0 {
		given := map[string]string{cluster.LabelNodePool: spec.Name, cluster.LabelNodeClass: spec.NodeClass.Name}
		for k, l := range spec.Labels {
			given[k] = l
		}
		v.types = catalog.WithOverlays(v.types, c.snap.Overlays, given)
	}
	c.readOffers(v)
	c.views[name] = v
	return v
}

func (c *checker) readOffers(v *poolView) {
	v.byName = make(map[string]int32, len(v.types))
	v.first = make([]int32, len(v.types)+1)
	n := 0
	for t := range v.types {
		n += len(v.types[t].Offerings)
	}
	v.offers = make([]offer, 0, n)
	for t := range v.types {
		v.byName[v.types[t].Name] = int32(t)
		v.first[t] = int32(len(v.offers))
		for i := range v.types[t].Offerings {
			if o := &v.types[t].Offerings[i]; v.offered(o) && !(c.in.NoSpot && o.CapacityType == cluster.Spot) {
				v.offers = append(v.offers, offer{int32(t), c.value(o.Zone), c.value(o.CapacityType), o})
			}
		}
	}
	v.first[len(v.types)] = int32(len(v.offers))
}

// offered tells whether an offering can be launched at all.
func (v *poolView) offered(o *cluster.Offering) bool {
	if o.Unavailable || o.CapacityType == cluster.Reserved && o.ReservationCount <= 0 {
		return false
	}
	return v.class == nil || len(v.class.Zones) == 0 || slices.Contains(v.class.Zones, o.Zone)
}

// typesHave tells whether some type carries a label.
func (v *poolView) typesHave(key string) bool {
	if known, ok := v.ofTypes[key]; ok {
		return known
	}
	found := slices.ContainsFunc(v.types, func(t cluster.InstanceType) bool {
		_, ok := t.Labels[key]
		return ok
	})
	v.ofTypes[key] = found
	return found
}

// template finds the template of a new node. What its labels say of the type or
// the offering holds for some choices only and is left aside here.
func (c *checker) template(v *poolView, n *NewNode) *template {
	var custom map[string]string
	for k, l := range n.Labels {
		if ofLaunch(k) {
			continue
		}
		if given, ok := v.labels[k]; ok {
			if given != l {
				c.faults.say(RuleNodePool, n.Name, "", "its label %s is %q, the template of NodePool %s says %q", k, l, v.spec.Name, given)
			}
			continue
		}
		if custom == nil {
			custom = map[string]string{}
		}
		custom[k] = l
	}
	c.buf = appendLabels(c.buf[:0], custom)
	t := v.templates[string(c.buf)]
	if t == nil {
		t = &template{pool: v, custom: custom, region: c.snap.Region, rules: make([]tribool, len(v.offers)), labels: map[string]*column{}}
		for _, d := range c.daemons {
			t.runs = append(t.runs, daemonTolerates(v.spec.Taints, d.spec.Template.Tolerations))
		}
		v.templates[string(c.buf)] = t
	}
	return t
}

// ofOffering tells whether a label differs among the offerings of a type.
func ofOffering(key string) bool {
	switch key {
	case cluster.LabelZone, cluster.LabelZoneID, cluster.LabelCapacityType, cluster.LabelReservationID, cluster.LabelReservationType, labelInterruptible:
		return true
	}
	return false
}

const labelInterruptible = "karpenter.k8s.aws/capacity-reservation-interruptible"

// ofLaunch tells whether a label follows from what is launched.
func ofLaunch(key string) bool {
	switch key {
	case cluster.LabelInstanceType, cluster.LabelArch, cluster.LabelOS, cluster.LabelRegion, cluster.LabelHostname, cluster.LabelWindowsBuild:
		return true
	}
	return ofOffering(key) || strings.HasPrefix(key, "karpenter.k8s.aws/")
}

// optionLabels are the labels of a template's node as one offer.
type optionLabels struct {
	t *template
	o *offer
}

// aNewName stands for the name of a node that is not there yet: no selector names
// it, and it is not missing.
const aNewName = "\x00"

func (l optionLabels) nodeName() string { return aNewName }

// label reads a label: what the offering and the installation decide, then what
// the type says, the template, and the plan.
func (l optionLabels) label(key string) (string, bool) {
	key = nodeLabel(key)
	if v, ok, mine := l.decided(key); mine {
		return v, ok
	}
	typ := &l.t.pool.types[l.o.typ]
	if v, ok := typ.Labels[key]; ok {
		return v, true
	}
	switch key {
	case cluster.LabelInstanceType:
		return typ.Name, true
	case cluster.LabelArch:
		return typ.Arch, typ.Arch != ""
	case cluster.LabelOS:
		if typ.OS != "" {
			return typ.OS, true
		}
	}
	if v, ok := l.t.pool.labels[key]; ok {
		return v, true
	}
	v, ok := l.t.custom[key]
	return v, ok
}

// decided reads a label that neither the type nor anybody's template has a say
// in; mine is false for any other.
func (l optionLabels) decided(key string) (v string, ok, mine bool) {
	pool := l.t.pool
	switch key {
	case cluster.LabelZone:
		v = l.o.Zone
	case cluster.LabelZoneID:
		if v = l.o.ZoneID; v == "" && pool.class != nil {
			v = pool.class.ZoneIDs[l.o.Zone]
		}
	case cluster.LabelCapacityType:
		v = l.o.CapacityType
	case cluster.LabelReservationID:
		v = l.o.ReservationID
	case cluster.LabelReservationType:
		v = l.o.ReservationType
	case labelInterruptible:
		if l.o.ReservationID != "" {
			v = strconv.FormatBool(l.o.ReservationInterruptible)
		}
	case cluster.LabelRegion:
		v = l.t.region
		return v, v != "", v != ""
	case cluster.LabelNodePool:
		v = pool.spec.Name
	case cluster.LabelNodeClass:
		v = pool.spec.NodeClass.Name
	case cluster.LabelRegistered, cluster.LabelInitialized:
		v = "true"
	case cluster.LabelHostname:
		v = aNewName
	default:
		return "", false, false
	}
	return v, v != "", true
}

// column is the values of one label on the nodes of a template, by what they are
// launched as.
type column struct {
	c       *checker
	t       *template
	key     string
	byOffer bool    // otherwise it is a matter of the type
	values  []int32 // a value and two, or 0: not known yet
}

// column finds the values of a label.
func (c *checker) column(t *template, key string) *column {
	if l := t.labels[key]; l != nil {
		return l
	}
	l := &column{c: c, t: t, key: key, byOffer: ofOffering(nodeLabel(key))}
	if l.byOffer {
		l.values = make([]int32, len(t.pool.offers))
	} else {
		l.values = make([]int32, len(t.pool.types))
	}
	t.labels[key] = l
	return l
}

// at is the number of the value that a node launched as an offer has, -1 for none.
func (l *column) at(o int32) int32 {
	i := o
	if !l.byOffer {
		i = l.t.pool.offers[o].typ
	}
	if l.values[i] == 0 {
		l.values[i] = 1
		if v, ok := (optionLabels{l.t, &l.t.pool.offers[o]}).label(l.key); ok {
			l.values[i] = l.c.value(v) + 2
		}
	}
	return l.values[i] - 2
}

// value numbers the value of a label.
func (c *checker) value(name string) int32 {
	id, ok := c.valueIndex[name]
	if !ok {
		id = int32(len(c.values))
		c.valueIndex[name] = id
		c.values = append(c.values, name)
	}
	return id
}

// mayLaunch tells whether the pool's requirements and images allow an offer.
func (t *template) mayLaunch(o int32) bool {
	if t.rules[o] == unknown {
		t.rules[o] = answer(t.refusal(o) == "")
	}
	return t.rules[o] == yes
}

// refusal says why a pool may not launch an offer, "" where it may.
func (t *template) refusal(o int32) string {
	n := optionLabels{t, &t.pool.offers[o]}
	for i := range t.pool.spec.Requirements {
		r := &t.pool.spec.Requirements[i]
		v, ok := n.label(r.Key)
		if satisfies(v, ok, string(r.Operator), r.Values) || r.Operator == cluster.Exists && t.pool.leavesOpen(r.Key) {
			continue
		}
		if !ok {
			v = "no such label"
		}
		return "NodePool " + t.pool.spec.Name + " wants " + r.Key + " " + string(r.Operator) + " " + strings.Join(r.Values, ",") + ", it has " + v
	}
	class, arch := t.pool.class, t.pool.types[n.o.typ].Arch
	if class != nil && len(class.AMIArchs) > 0 && !slices.Contains(class.AMIArchs, arch) {
		return "node class " + class.Name + " has no image for " + arch
	}
	return ""
}

// leavesOpen tells whether a key is one that the pool alone defines, so that a
// node may be given any value of it at the launch.
func (v *poolView) leavesOpen(key string) bool {
	key = cluster.NormalLabel(key)
	return !ofLaunch(key) && v.labels[key] == "" && !v.typesHave(key)
}

// offerFits tells whether a node launched as an offer satisfies a selector.
func (c *checker) offerFits(t *template, id, o int32) bool {
	if id == everywhere {
		return true
	}
	s := c.selectors[id]
	for int(id) >= len(t.fits) {
		t.fits = append(t.fits, nil)
	}
	at := o
	if !s.byOffer {
		at = t.pool.offers[o].typ
	}
	if t.fits[id] == nil {
		n := len(t.pool.types)
		if s.byOffer {
			n = len(t.pool.offers)
		}
		t.fits[id] = make([]tribool, n)
	}
	if t.fits[id][at] == unknown {
		t.fits[id][at] = answer(s.matches(optionLabels{t, &t.pool.offers[o]}))
	}
	return t.fits[id][at] == yes
}

// daemon is a DaemonSet with what its pods ask of a node.
type daemon struct {
	spec     *cluster.DaemonSet
	selector int32
}

func (c *checker) readDaemons() {
	for i := range c.snap.DaemonSets {
		d := &c.snap.DaemonSets[i]
		c.daemons = append(c.daemons, &daemon{spec: d, selector: c.selectorOf(&d.Template)})
	}
	slices.SortFunc(c.daemons, func(a, b *daemon) int {
		return strings.Compare(a.spec.Namespace+"/"+a.spec.Name, b.spec.Namespace+"/"+b.spec.Name)
	})
}

// daemonTolerates tells whether a daemon's pods stay on a node with taints. The
// DaemonSet controller gives them tolerations for what a node's state brings.
func daemonTolerates(taints []corev1.Taint, list []corev1.Toleration) bool {
	return !slices.ContainsFunc(taints, func(t corev1.Taint) bool {
		switch t.Key {
		case corev1.TaintNodeUnschedulable, corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable,
			corev1.TaintNodeMemoryPressure, corev1.TaintNodeDiskPressure, corev1.TaintNodePIDPressure:
			return false
		}
		return t.Effect != corev1.TaintEffectPreferNoSchedule && !tolerated(&t, list)
	})
}
