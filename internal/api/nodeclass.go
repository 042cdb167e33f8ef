package api

import (
	"slices"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// classHints say what became of fields that older versions had.
var classHints = map[string]string{
	"spec.amiSelector":           "unknown field; write spec.amiSelectorTerms, a list",
	"spec.subnetSelector":        "unknown field; write spec.subnetSelectorTerms, a list",
	"spec.securityGroupSelector": "unknown field; write spec.securityGroupSelectorTerms, a list",
	"spec.launchTemplate":        "unknown field; launch templates cannot be given; write what it holds into the class",
	"spec.launchTemplateName":    "unknown field; launch templates cannot be given; write what it holds into the class",
	"spec.instanceTypes":         "unknown field; a NodePool says which instance types it takes, in its requirements",
}

// readNodeClass decodes, defaults, validates and converts an EC2NodeClass.
func readNodeClass(l *loader, o *Object) any {
	in := &EC2NodeClass{}
	before := l.rep.count()
	l.rep.hints = classHints
	decodeStrict(o.Raw, in, l.rep)
	l.rep.hints = nil
	checkMeta(&in.Metadata, l.rep)
	if in.Spec == nil {
		l.rep.missing("spec", "an EC2NodeClass says in it how instances are launched")
		return nil
	}
	defaultMetadataOptions(in.Spec)
	checkClass(in.Spec, l.rep)
	if l.rep.count() > before {
		return nil
	}
	l.result.Snapshot.NodeClasses = append(l.result.Snapshot.NodeClasses, convertClass(in, l.opts))
	return in
}

// defaultMetadataOptions fills in what the schema fills in.
func defaultMetadataOptions(s *EC2NodeClassSpec) {
	if s.MetadataOptions == nil {
		s.MetadataOptions = &MetadataOptions{}
	}
	m := s.MetadataOptions
	for _, f := range []struct {
		at   **string
		word string
	}{
		{&m.HTTPEndpoint, "enabled"},
		{&m.HTTPProtocolIPv6, "disabled"},
		{&m.HTTPTokens, "required"},
	} {
		if *f.at == nil {
			*f.at = ptr(f.word)
		}
	}
	if m.HTTPPutResponseHopLimit == nil {
		m.HTTPPutResponseHopLimit = ptr(int64(1))
	}
}

// convertClass takes over what decides what the instances of a class are worth.
// The class has been checked.
func convertClass(in *EC2NodeClass, opts Options) cluster.NodeClass {
	s := in.Spec
	out := cluster.NodeClass{
		Name:        in.Metadata.Name,
		AMIFamily:   familyOf(s),
		RAID0:       s.InstanceStorePolicy != nil,
		NestedVirt:  s.CPUOptions != nil && text(s.CPUOptions.NestedVirtualization) == "enabled",
		NitroOnly:   s.ConnectionTracking != nil,
		Disks:       disksOf(s.BlockDeviceMappings),
		Interfaces:  int64(len(s.NetworkInterfaces)),
		ReservedENI: opts.ReservedENIs,
	}
	for _, n := range s.NetworkInterfaces {
		card := int64(*n.NetworkCardIndex)
		out.MaxCard = max(out.MaxCard, card)
		if card == 0 && *n.InterfaceType == efaOnly {
			out.EFAOnly++
		}
	}
	if k := s.Kubelet; k != nil {
		out.Kubelet = cluster.Kubelet{
			MaxPods:        widen(k.MaxPods),
			PodsPerCore:    widen(k.PodsPerCore),
			SystemReserved: k.SystemReserved,
			KubeReserved:   k.KubeReserved,
			EvictionHard:   k.EvictionHard,
			EvictionSoft:   k.EvictionSoft,
		}
	}
	classStatus(&in.Status, &out)
	return out
}

func widen(n *int32) *int64 {
	if n == nil {
		return nil
	}
	return ptr(int64(*n))
}

// familyOf is the AMI family of a class, from its alias where it names none.
func familyOf(s *EC2NodeClassSpec) string {
	if s.AMIFamily != nil {
		return *s.AMIFamily
	}
	for _, t := range s.AMISelectorTerms {
		if alias, _, ok := strings.Cut(text(t.Alias), "@"); ok {
			return amiFamilies[alias]
		}
	}
	return ""
}

// disksOf converts the disks whose size is known; that of a snapshot is not.
func disksOf(list []BlockDeviceMapping) []cluster.Disk {
	var out []cluster.Disk
	for _, b := range list {
		d := cluster.Disk{DeviceName: text(b.DeviceName), Root: b.RootVolume != nil && *b.RootVolume}
		if b.EBS != nil && b.EBS.VolumeSize != nil {
			q, _ := parseQuantity(b.EBS.VolumeSize.Text) // has been checked
			d.SizeBytes = q.Value()
		}
		out = append(out, d)
	}
	return out
}

// classStatus takes over what the selectors were resolved to.
func classStatus(s *EC2NodeClassStatus, out *cluster.NodeClass) {
	for _, n := range s.Subnets {
		if n.Zone == "" {
			continue
		}
		if !slices.Contains(out.Zones, n.Zone) {
			out.Zones = append(out.Zones, n.Zone)
		}
		if n.ZoneID != "" {
			if out.ZoneIDs == nil {
				out.ZoneIDs = map[string]string{}
			}
			out.ZoneIDs[n.Zone] = n.ZoneID
		}
	}
	slices.Sort(out.Zones)
	out.AMIArchs = archsOf(s.AMIs)
	for _, c := range s.CapacityReservations {
		out.Reserved = append(out.Reserved, cluster.CapacityReservation{
			ID:            c.ID,
			InstanceType:  c.InstanceType,
			Zone:          c.AvailabilityZone,
			Type:          c.ReservationType,
			Available:     c.AvailableInstanceCount,
			Interruptible: c.Interruptible,
			Expiring:      c.State == "expiring",
		})
	}
}

// archsOf are the architectures that images cover, sorted; empty when one of
// them covers any.
func archsOf(images []AMIStatus) []string {
	var out []string
	for _, image := range images {
		found := false
		for _, q := range image.Requirements {
			if cluster.NormalLabel(text(q.Key)) == cluster.LabelArch && text(q.Operator) == string(cluster.In) {
				out = append(out, q.Values...)
				found = true
			}
		}
		if !found {
			return nil
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
