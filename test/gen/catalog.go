package gen

import (
	"slices"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// Catalog is a catalogue of given types. It leaves to each node class what the
// class's subnets and images can be used for.
type Catalog []cluster.InstanceType

// InstanceTypes are the types that a node class can launch.
func (c Catalog) InstanceTypes(class *cluster.NodeClass) []cluster.InstanceType {
	var out []cluster.InstanceType
	for _, t := range c {
		if len(class.AMIArchs) > 0 && !slices.Contains(class.AMIArchs, t.Arch) {
			continue
		}
		t.Offerings = slices.DeleteFunc(slices.Clone(t.Offerings), func(o cluster.Offering) bool {
			return len(class.Zones) > 0 && !slices.Contains(class.Zones, o.Zone)
		})
		if len(t.Offerings) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// Of is the catalogue by the name of a snapshot's node class.
func (c Catalog) Of(snap *cluster.Snapshot) func(nodeClass string) []cluster.InstanceType {
	return func(name string) []cluster.InstanceType {
		for i := range snap.NodeClasses {
			if snap.NodeClasses[i].Name == name {
				return c.InstanceTypes(&snap.NodeClasses[i])
			}
		}
		return nil
	}
}

// WithoutSpot is the catalogue as a plan without spot would see it.
func (c Catalog) WithoutSpot() Catalog {
	out := slices.Clone(c)
	for i := range out {
		out[i].Offerings = slices.DeleteFunc(slices.Clone(out[i].Offerings), func(o cluster.Offering) bool { return o.CapacityType == cluster.Spot })
	}
	return slices.DeleteFunc(out, func(t cluster.InstanceType) bool { return len(t.Offerings) == 0 })
}
