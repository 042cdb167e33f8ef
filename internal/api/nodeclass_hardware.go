package api

import (
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// The rules for the parts of an EC2NodeClass that shape the machine: disks,
// interfaces, the metadata service and the kubelet.

var volumeTypes = []string{"standard", "io1", "io2", "gp2", "sc1", "st1", "gp3"}

func checkDisks(list []BlockDeviceMapping, r *reporter) {
	const path = "spec.blockDeviceMappings"
	r.atMost(path, len(list), maxDisks)
	roots := 0
	for i, b := range list {
		at := index(path, i)
		if b.RootVolume != nil && *b.RootVolume {
			if roots++; roots == 2 {
				r.add(field(at, "rootVolume"), "is true for a second disk; only one disk can be the root volume")
			}
		}
		if b.EBS != nil {
			checkVolume(b.EBS, field(at, "ebs"), r)
		}
	}
}

// checkVolume applies the rules for an EBS volume.
func checkVolume(e *BlockDevice, path string, r *reporter) {
	if e.SnapshotID == nil && e.VolumeSize == nil {
		r.add(path, "needs volumeSize or snapshotID; write volumeSize: 100Gi, for example")
	}
	if e.VolumeSize != nil {
		checkVolumeSize(e.VolumeSize.Text, field(path, "volumeSize"), r)
	}
	if e.VolumeType != nil {
		r.oneOf(field(path, "volumeType"), *e.VolumeType, volumeTypes...)
	}
	if e.VolumeInitializationRate != nil {
		at := field(path, "volumeInitializationRate")
		r.within(at, int64(*e.VolumeInitializationRate), 100, 300)
		if e.SnapshotID == nil {
			r.add(at, "is for volumes that are made from a snapshot; add snapshotID or take it out")
		}
	}
}

var volumeSizePattern = regexp.MustCompile(`^([1-9][0-9]{0,4})(Gi|G|Ti|T)$`)

// volumeSizeLimits are the largest sizes of a volume in the units in which it
// may be written.
var volumeSizeLimits = map[string]int{"Gi": 59000, "G": 64000, "Ti": 58, "T": 64}

func checkVolumeSize(size, path string, r *reporter) {
	found := volumeSizePattern.FindStringSubmatch(size)
	if found == nil {
		message := strconv.Quote(shorten(size)) + " is not the size of a volume; write a whole number with Gi, G, Ti or T, such as 100Gi"
		if _, err := strconv.ParseUint(size, 10, 32); err == nil {
			message += `; did you mean "` + size + `Gi"?`
		}
		r.add(path, message)
		return
	}
	switch n, _ := strconv.Atoi(found[1]); {
	case n > volumeSizeLimits[found[2]]:
		r.addf(path, "%q is more than a volume can have; the most is %d%s", size, volumeSizeLimits[found[2]], found[2])
	case found[2] == "Ti" && n > 10 && n%10 > 7 && n != volumeSizeLimits["Ti"]:
		r.addf(path, "%q is not taken by the schema, which has a gap there; write %dGi", size, n<<10)
	}
}

func checkInterfaces(list []NetworkInterface, r *reporter) {
	const path = "spec.networkInterfaces"
	r.atMost(path, len(list), maxInterfaces)
	type place struct{ card, device int32 }
	taken, efa, primary := map[place]string{}, map[int32]string{}, len(list) == 0
	for i, n := range list {
		at := index(path, i)
		if !checkInterface(&n, at, r) {
			primary = true // it cannot be told whether it is missing
			continue
		}
		p := place{*n.NetworkCardIndex, *n.DeviceIndex}
		if first, twice := taken[p]; twice {
			r.addf(at, "has the same networkCardIndex and deviceIndex as %s; each pair can be used once", first)
		}
		taken[p] = at
		if *n.InterfaceType == efaOnly {
			if first, twice := efa[p.card]; twice {
				r.addf(at, "is a second efa-only interface of network card %d, after %s; a card can have one", p.card, first)
			}
			efa[p.card] = at
		}
		primary = primary || p == place{} && *n.InterfaceType != efaOnly
	}
	if !primary {
		r.add(path, "has no primary interface; add networkCardIndex: 0, deviceIndex: 0, interfaceType: interface")
	}
}

// checkInterface applies the rules for one interface and tells whether all its
// fields can be used.
func checkInterface(n *NetworkInterface, path string, r *reporter) bool {
	before := r.count()
	for _, f := range []struct {
		name  string
		value *int32
	}{{"networkCardIndex", n.NetworkCardIndex}, {"deviceIndex", n.DeviceIndex}} {
		if f.value == nil {
			r.missing(field(path, f.name), "write a number from 0")
		}
		notNegative(r, field(path, f.name), f.value)
	}
	if n.InterfaceType == nil {
		r.missing(field(path, "interfaceType"), "write interface or "+efaOnly)
	} else {
		r.oneOf(field(path, "interfaceType"), *n.InterfaceType, "interface", efaOnly)
	}
	return r.count() == before && n.NetworkCardIndex != nil && n.DeviceIndex != nil && n.InterfaceType != nil
}

func checkMetadataOptions(m *MetadataOptions, r *reporter) {
	const path = "spec.metadataOptions"
	r.oneOf(path+".httpEndpoint", *m.HTTPEndpoint, "enabled", "disabled")
	r.oneOf(path+".httpProtocolIPv6", *m.HTTPProtocolIPv6, "enabled", "disabled")
	r.oneOf(path+".httpTokens", *m.HTTPTokens, "required", "optional")
	r.within(path+".httpPutResponseHopLimit", *m.HTTPPutResponseHopLimit, 1, 64)
}

func checkConnectionTracking(s *EC2NodeClassSpec, r *reporter) {
	const path = "spec.connectionTracking"
	c := s.ConnectionTracking
	if c == nil {
		return
	}
	if c.TCPEstablishedTimeout == nil && c.UDPStreamTimeout == nil && c.UDPTimeout == nil {
		r.add(path, "sets nothing; write one of tcpEstablishedTimeout, udpStreamTimeout and udpTimeout, or take it out")
	}
	for _, f := range []struct {
		name      string
		value     *int32
		low, high int64
	}{
		{"tcpEstablishedTimeout", c.TCPEstablishedTimeout, 60, 432000},
		{"udpStreamTimeout", c.UDPStreamTimeout, 60, 180},
		{"udpTimeout", c.UDPTimeout, 30, 60},
	} {
		if f.value != nil {
			r.within(field(path, f.name), int64(*f.value), f.low, f.high)
		}
	}
}

var (
	reservedKeys = []string{"cpu", "memory", "ephemeral-storage", "pid"}
	signals      = []string{
		"memory.available", "nodefs.available", "nodefs.inodesFree",
		"imagefs.available", "imagefs.inodesFree", "pid.available",
	}
	percentPattern = regexp.MustCompile(`^(\d{1,2}(\.\d{1,2})?|100(\.0{1,2})?)%$`)
)

func checkKubelet(s *EC2NodeClassSpec, r *reporter) {
	const path = "spec.kubelet"
	k := s.Kubelet
	if k == nil {
		return
	}
	notNegative(r, path+".maxPods", k.MaxPods)
	notNegative(r, path+".podsPerCore", k.PodsPerCore)
	if k.PodsPerCore != nil && familyOf(s) == "Bottlerocket" {
		r.add(path+".podsPerCore", "is not supported by Bottlerocket; write maxPods instead")
	}
	checkReserved(k.SystemReserved, path+".systemReserved", r)
	checkReserved(k.KubeReserved, path+".kubeReserved", r)
	checkSignals(k.EvictionHard, path+".evictionHard", r)
	checkSignals(k.EvictionSoft, path+".evictionSoft", r)
	checkGracePeriods(k, path, r)
	high, low := k.ImageGCHighThresholdPercent, k.ImageGCLowThresholdPercent
	if high != nil {
		r.within(path+".imageGCHighThresholdPercent", int64(*high), 0, 100)
	}
	if low != nil {
		r.within(path+".imageGCLowThresholdPercent", int64(*low), 0, 100)
	}
	if high != nil && low != nil && *high <= *low {
		r.addf(path+".imageGCHighThresholdPercent", "%d is not above imageGCLowThresholdPercent, %d", *high, *low)
	}
}

// checkReserved applies the rules for systemReserved and kubeReserved.
func checkReserved(m map[string]string, path string, r *reporter) {
	for _, k := range sortedKeys(m) {
		if !r.oneOf(key(path, k), k, reservedKeys...) {
			continue
		}
		q, problem := parseQuantity(m[k])
		switch {
		case problem != "":
			r.add(key(path, k), problem)
		case q.Sign() < 0 || strings.HasPrefix(m[k], "-"):
			r.add(key(path, k), strconv.Quote(m[k])+" is negative; use 0 or more")
		default:
			if _, problem := amountOf(k, q); problem != "" {
				r.add(key(path, k), problem)
			}
		}
	}
}

// checkSignals applies the rules for evictionHard and evictionSoft.
func checkSignals(m map[string]string, path string, r *reporter) {
	for _, k := range sortedKeys(m) {
		v := m[k]
		if !r.oneOf(key(path, k), k, signals...) || percentPattern.MatchString(v) {
			continue
		}
		if strings.HasSuffix(v, "%") {
			r.addf(key(path, k), "%q is not allowed; a percentage goes from 0%% to 100%% with at most two decimals", shorten(v))
			continue
		}
		q, problem := parseQuantity(v)
		if problem == "" && q.Cmp(resource.Quantity{}) < 0 {
			problem = strconv.Quote(v) + " is negative; use 0 or more"
		}
		if problem != "" {
			r.add(key(path, k), problem+"; a percentage such as 10% is allowed as well")
		}
	}
}

// checkGracePeriods wants a grace period for each soft threshold and no other.
func checkGracePeriods(k *KubeletConfiguration, path string, r *reporter) {
	soft, grace := path+".evictionSoft", path+".evictionSoftGracePeriod"
	for _, signal := range sortedKeys(k.EvictionSoft) {
		if _, ok := k.EvictionSoftGracePeriod[signal]; !ok {
			r.add(key(soft, signal), "has no grace period; add it to evictionSoftGracePeriod, such as "+signal+": 1m")
		}
	}
	for _, signal := range sortedKeys(k.EvictionSoftGracePeriod) {
		if !r.oneOf(key(grace, signal), signal, signals...) {
			continue
		}
		if _, ok := k.EvictionSoft[signal]; !ok {
			r.add(key(grace, signal), "has no threshold; add it to evictionSoft, such as "+signal+": 10%")
		}
	}
}
