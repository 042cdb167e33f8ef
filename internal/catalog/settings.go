package catalog

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// The AMI families that have rules of their own.
const (
	al2023       = "AL2023"
	al2          = "AL2"
	bottlerocket = "Bottlerocket"
	custom       = "Custom"
)

// windowsBuilds maps the Windows families to the label of their build.
var windowsBuilds = map[string]string{
	"Windows2019": "10.0.17763",
	"Windows2022": "10.0.20348",
	"Windows2025": "10.0.26100",
}

const (
	kib = int64(1) << 10
	mib = int64(1) << 20
	gib = int64(1) << 30
)

// amount is a setting that is a quantity or a percentage of the capacity.
type amount struct {
	value   int64
	percent float64
	scaled  bool
}

func (a amount) of(capacity int64) int64 {
	if a.scaled {
		return int64(math.Ceil(float64(capacity) / 100 * a.percent))
	}
	return a.value
}

// settings are those of a node class, with the defaults filled in.
type settings struct {
	class        *cluster.NodeClass
	family       string
	os           string
	windowsBuild string
	tenancy      string

	maxPods, podsPerCore         *int64
	kube, system                 map[string]int64 // what the user set, by resource
	evictMemory, evictEphemeral  amount
	rootBytes                    int64 // of the root volume; 0: none is mapped
	onlyAMD64, onlyWithEFA, noA1 bool
}

func settingsOf(class *cluster.NodeClass) *settings {
	s := &settings{class: class, family: class.AMIFamily, os: "linux", tenancy: class.Tenancy}
	if s.family == "" {
		s.family = al2023
	}
	if s.tenancy == "" {
		s.tenancy = "default"
	}
	if build, ok := windowsBuilds[s.family]; ok {
		s.os, s.windowsBuild, s.onlyAMD64 = "windows", build, true
	}
	s.noA1 = s.family == al2023
	s.onlyWithEFA = class.EFAOnly > 0
	s.maxPods, s.podsPerCore = class.Kubelet.MaxPods, class.Kubelet.PodsPerCore
	if s.family == bottlerocket {
		s.podsPerCore = nil
	}
	s.kube = quantities(class.Kubelet.KubeReserved)
	s.system = quantities(class.Kubelet.SystemReserved)
	s.evictMemory = threshold(class.Kubelet.EvictionHard["memory.available"], amount{value: 100 * mib})
	s.evictEphemeral = threshold(class.Kubelet.EvictionHard["nodefs.available"], amount{percent: 10, scaled: true})
	s.rootBytes = rootDisk(class.Disks, s.family)
	return s
}

// quantities reads reserved resources, in the unit of each.
func quantities(m map[string]string) map[string]int64 {
	out := make(map[string]int64, len(m))
	for name, text := range m {
		if v, ok := quantity(text, name == cluster.CPU); ok {
			out[name] = v
		}
	}
	return out
}

// maxQuantity bounds what a user's quantity counts as, so that sums of several
// stay within an int64. No machine has as much of anything.
const maxQuantity = int64(1) << 50

// quantity reads a quantity that is not negative, in thousandths or whole units.
func quantity(text string, milli bool) (int64, bool) {
	q, err := resource.ParseQuantity(text)
	if err != nil || q.Sign() < 0 {
		return 0, false
	}
	if q.CmpInt64(maxQuantity) >= 0 {
		return maxQuantity, true
	}
	if milli {
		return q.MilliValue(), true
	}
	return q.Value(), true
}

// threshold reads an eviction threshold; 100% turns it off.
func threshold(text string, standard amount) amount {
	if text == "" {
		return standard
	}
	if number, isPercent := strings.CutSuffix(text, "%"); isPercent {
		p, err := strconv.ParseFloat(number, 64)
		switch {
		case err != nil || p < 0 || p > 100 || math.IsNaN(p):
			return standard
		case p == 100:
			return amount{}
		}
		return amount{percent: p, scaled: true}
	}
	if v, ok := quantity(text, false); ok {
		return amount{value: v}
	}
	return standard
}

// rootDisk is the size of the volume that pods write to, in bytes: the mapping
// that is called the root; for Custom the last mapping; else the mapping of the
// device that the family's images use; else the family's default.
func rootDisk(disks []cluster.Disk, family string) int64 {
	device, standard := "/dev/xvda", 20*gib
	switch {
	case family == bottlerocket:
		device = "/dev/xvdb"
	case windowsBuilds[family] != "":
		device, standard = "/dev/sda1", 50*gib
	}
	for _, d := range disks {
		if d.Root && d.SizeBytes > 0 {
			return d.SizeBytes
		}
	}
	if family == custom && len(disks) > 0 {
		device = disks[len(disks)-1].DeviceName
	}
	for _, d := range slices.Backward(disks) {
		if d.DeviceName == device && d.SizeBytes > 0 {
			return d.SizeBytes
		}
	}
	return standard
}

// accepts tells whether nodes of the class can be of the type.
func (s *settings) accepts(e *entry) bool {
	arch := e.arch()
	if len(s.class.AMIArchs) > 0 && !slices.Contains(s.class.AMIArchs, arch) {
		return false
	}
	f := e.facts
	if f == nil {
		return true
	}
	switch {
	case s.onlyAMD64 && arch != "amd64",
		s.noA1 && strings.HasPrefix(f.Name, "a1."),
		s.class.Interfaces > f.ENIs,
		s.class.MaxCard >= max(f.NetworkCards, 1),
		s.onlyWithEFA && (f.EFAs == 0 || s.class.EFAOnly >= f.DefaultCardENIs),
		s.class.NestedVirt && !f.NestedVirt,
		s.class.NitroOnly && f.Hypervisor == "xen":
		return false
	}
	return true
}
