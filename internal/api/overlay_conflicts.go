package api

import (
	"regexp"
	"slices"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// checkOverlays looks for overlays of equal weight that set the same thing of
// the same instance types: which of them holds cannot be said.
func (l *loader) checkOverlays() {
	list := l.result.Snapshot.Overlays
	left := make([]map[string]*remainder, len(list))
	for i := range list {
		left[i] = remainders(&list[i])
	}
	equal := map[int32][]int{} // overlays by weight
	for i := range list {
		peers := equal[list[i].Weight]
		if len(peers) == maxEqualOverlays {
			l.rep.at(&l.result.Objects[l.overlays[i]])
			l.rep.addf("spec.weight", "%d is the weight of more than %d overlays, too many to look for conflicts among them; give them different weights", list[i].Weight, maxEqualOverlays)
			continue
		}
		for _, j := range peers {
			what := sameEffect(&list[j], &list[i])
			if what == "" {
				continue
			}
			overlap, sure := overlaps(left[j], left[i])
			if overlap {
				l.overlayConflict(j, i, what, sure)
			}
		}
		equal[list[i].Weight] = append(peers, i)
	}
}

// maxEqualOverlays is how many overlays may have one weight: each is compared
// with all the others. There are some 1,400 instance types, each of which might
// have one.
const maxEqualOverlays = 4000

// overlayConflict reports that two overlays conflict, or may.
func (l *loader) overlayConflict(first, second int, what string, sure bool) {
	a, b := &l.result.Objects[l.overlays[first]], &l.result.Objects[l.overlays[second]]
	l.rep.at(b)
	if !sure {
		l.rep.warn("spec.weight", "is that of "+a.Ref()+" too, and both set "+what+"; where an instance type meets the requirements of both, give one of them a higher weight")
		return
	}
	l.rep.add("spec.weight", "is that of "+a.Ref()+" ("+a.place()+") too, and both set "+what+" of the same instance types; give one of them a higher weight")
}

// sameEffect names what two overlays both set, "" when there is nothing.
func sameEffect(a, b *cluster.NodeOverlay) string {
	if setsPrice(a) && setsPrice(b) {
		return "the price"
	}
	for _, c := range a.Capacity {
		if b.Capacity.Has(c.Name) {
			return "the capacity of " + c.Name
		}
	}
	return ""
}

// remainders are what the requirements of an overlay leave of each label, those
// labels included that follow from the name of a type or family.
func remainders(o *cluster.NodeOverlay) map[string]*remainder {
	out := map[string]*remainder{}
	add := func(q *cluster.Requirement) {
		if out[q.Key] == nil {
			out[q.Key] = everything()
		}
		out[q.Key].add(q)
	}
	for i := range o.Requirements {
		q := &o.Requirements[i]
		add(q)
		for _, implied := range impliedBy(q) {
			add(&implied)
		}
	}
	return out
}

const awsInstance = groupClass + "/instance-"

// typeName takes the name of an instance type apart: family, category,
// generation, size.
var typeName = regexp.MustCompile(`^(([a-z]+)(?:-[0-9]+tb)?([0-9]+)[^.]*)(?:\.(.+))?$`)

// impliedBy are the requirements on other labels that follow from one on types
// or families.
func impliedBy(q *cluster.Requirement) []cluster.Requirement {
	if q.Operator != cluster.In || q.Key != cluster.LabelInstanceType && q.Key != awsInstance+"family" {
		return nil
	}
	names := []string{"family", "category", "generation", "size"}
	values := make([][]string, len(names))
	for _, v := range q.Values {
		found := typeName.FindStringSubmatch(v)
		if found == nil {
			return nil
		}
		for i := range names {
			if found[i+1] != "" {
				values[i] = append(values[i], found[i+1])
			}
		}
	}
	var out []cluster.Requirement
	for i, name := range names {
		slices.Sort(values[i])
		values[i] = slices.Compact(values[i])
		if len(values[i]) > 0 && q.Key != awsInstance+name {
			out = append(out, cluster.Requirement{Key: awsInstance + name, Operator: cluster.In, Values: values[i]})
		}
	}
	return out
}

// overlaps tells whether two sets of requirements can be met by one instance
// type. It is sure of it when one set asks nothing of a type that the other
// does not: else whether a type has both properties, the catalogue alone knows.
func overlaps(a, b map[string]*remainder) (overlap, sure bool) {
	more := [2]bool{}
	for _, k := range sortedKeys(a) {
		other := b[k]
		if other == nil {
			more[0] = more[0] || ofType(k)
		} else if a[k].with(other).empty() {
			return false, false
		}
	}
	for k := range b {
		if a[k] == nil {
			more[1] = more[1] || ofType(k)
		}
	}
	return true, !more[0] || !more[1]
}

// ofType tells whether a label belongs to the type and not to an offering, all
// kinds of which every type can have.
func ofType(k string) bool {
	switch k {
	case cluster.LabelZone, cluster.LabelZoneID, cluster.LabelRegion, cluster.LabelCapacityType, cluster.LabelNodePool:
		return false
	}
	return !strings.HasPrefix(k, groupClass+"/capacity-reservation-")
}

// with is what both leave.
func (m *remainder) with(o *remainder) *remainder {
	out := &remainder{
		low: max(m.low, o.low), high: min(m.high, o.high),
		compared: slices.Concat(m.compared, o.compared),
		not:      slices.Concat(m.not, o.not),
		absent:   m.absent || o.absent,
		demanded: m.demanded || o.demanded,
		listed:   m.listed || o.listed,
	}
	switch {
	case m.listed && o.listed:
		in := membership(o.only)
		for _, v := range m.only {
			if in(v) {
				out.only = append(out.only, v)
			}
		}
	case m.listed:
		out.only = m.only
	default:
		out.only = o.only
	}
	return out
}

func setsPrice(o *cluster.NodeOverlay) bool { return o.Price != nil || o.Adjustment != nil }
