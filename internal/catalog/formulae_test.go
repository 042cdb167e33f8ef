package catalog

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

func ptr[T any](v T) *T { return &v }

// plain is a type with round numbers: 4 interfaces of 15 addresses.
func plain() Facts {
	return Facts{Name: "m9x.2xlarge", Arch: "amd64", Hypervisor: "nitro", VCPUs: 8, MemoryMiB: 32768,
		ENIs: 4, DefaultCardENIs: 4, NetworkCards: 1, IPv4PerENI: 15, EBSVolumes: 32}
}

func amounts(s *settings, f *Facts) (capacity, allocatable cluster.Resources) {
	var t cluster.InstanceType
	var room slab[cluster.Resource]
	s.resources(f, &t, &room)
	return t.Capacity, t.Allocatable
}

func TestDefaultNode(t *testing.T) {
	f := plain()
	capacity, allocatable := amounts(settingsOf(&cluster.NodeClass{}), &f)
	memory := int64(32768-2458) * mib // 2457.6 rounded up
	if diff := cmp.Diff(cluster.Resources{
		{Name: cluster.CPU, Amount: 8000},
		{Name: cluster.EphemeralStorage, Amount: 20 * gib},
		{Name: cluster.Memory, Amount: memory},
		{Name: cluster.Pods, Amount: 4*14 + 2},
	}, capacity); diff != "" {
		t.Errorf("capacity: %s", diff)
	}
	if diff := cmp.Diff(cluster.Resources{
		{Name: cluster.CPU, Amount: 8000 - 90},
		{Name: cluster.EphemeralStorage, Amount: 20*gib - gib - 2*gib},
		{Name: cluster.Memory, Amount: memory - (11*58+255+100)*mib},
		{Name: cluster.Pods, Amount: 58},
	}, allocatable); diff != "" {
		t.Errorf("allocatable: %s", diff)
	}
}

func TestPods(t *testing.T) {
	cases := []struct {
		name  string
		class cluster.NodeClass
		want  int64
	}{
		{"by interfaces", cluster.NodeClass{}, 58},
		{"Bottlerocket too", cluster.NodeClass{AMIFamily: bottlerocket}, 58},
		{"Windows", cluster.NodeClass{AMIFamily: "Windows2022"}, 110},
		{"maxPods", cluster.NodeClass{Kubelet: cluster.Kubelet{MaxPods: ptr[int64](200)}}, 200},
		{"maxPods on Windows", cluster.NodeClass{AMIFamily: "Windows2019", Kubelet: cluster.Kubelet{MaxPods: ptr[int64](30)}}, 30},
		{"podsPerCore is less", cluster.NodeClass{Kubelet: cluster.Kubelet{PodsPerCore: ptr[int64](3)}}, 24},
		{"podsPerCore is more", cluster.NodeClass{Kubelet: cluster.Kubelet{PodsPerCore: ptr[int64](30)}}, 58},
		{"podsPerCore under maxPods", cluster.NodeClass{Kubelet: cluster.Kubelet{MaxPods: ptr[int64](200), PodsPerCore: ptr[int64](3)}}, 24},
		{"podsPerCore of 0 is none", cluster.NodeClass{Kubelet: cluster.Kubelet{PodsPerCore: ptr[int64](0)}}, 58},
		{"Bottlerocket has no podsPerCore", cluster.NodeClass{AMIFamily: bottlerocket, Kubelet: cluster.Kubelet{PodsPerCore: ptr[int64](3)}}, 58},
		{"a reserved interface", cluster.NodeClass{ReservedENI: 1}, 3*14 + 2},
		{"an efa-only interface", cluster.NodeClass{EFAOnly: 2}, 2*14 + 2},
		{"no interface left", cluster.NodeClass{ReservedENI: 4}, 0},
		{"more reserved than there are", cluster.NodeClass{ReservedENI: math.MaxInt64, EFAOnly: math.MaxInt64}, 0},
		{"a negative maxPods", cluster.NodeClass{Kubelet: cluster.Kubelet{MaxPods: ptr[int64](-1)}}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := plain()
			if got := settingsOf(&c.class).pods(&f); got != c.want {
				t.Errorf("pods = %d, want %d", got, c.want)
			}
		})
	}
}

func TestReservedCPU(t *testing.T) {
	for cores, want := range map[int64]int64{0: 0, 1: 60, 2: 70, 3: 75, 4: 80, 5: 83, 6: 85, 8: 90, 96: 310, 192: 550} {
		if got := reservedMilliCPU(cores); got != want {
			t.Errorf("of %d cores %dm, want %dm", cores, got, want)
		}
	}
}

func TestMemory(t *testing.T) {
	for _, c := range []struct {
		arch      string
		mib, want int64
	}{
		{"amd64", 8192, 8192 - 615},
		{"arm64", 8192, 8128 - 610},
		{"amd64", 1000, 925},
		{"amd64", 40000, 37000},
		{"arm64", 32, 0},
	} {
		f := Facts{Arch: c.arch, MemoryMiB: c.mib}
		if got := memoryBytes(&f); got != c.want*mib {
			t.Errorf("%s with %d MiB has %d MiB, want %d", c.arch, c.mib, got/mib, c.want)
		}
	}
}

// TestOverhead checks what a class's settings take away: capacity less
// allocatable, in Mi of memory, thousandths of a core and Mi of storage.
func TestOverhead(t *testing.T) {
	const eniPods = 58
	kubelet := func(k cluster.Kubelet) cluster.NodeClass { return cluster.NodeClass{Kubelet: k} }
	family := func(name string, pods int64) cluster.NodeClass {
		return cluster.NodeClass{AMIFamily: name, Kubelet: cluster.Kubelet{MaxPods: &pods}}
	}
	cases := []struct {
		name                 string
		class                cluster.NodeClass
		cpu, memory, storage int64
	}{
		{"AL2023, whatever maxPods", family(al2023, 8), 90, 11*eniPods + 255 + 100, 1024 + 2048},
		{"AL2, whatever maxPods", family(al2, 8), 90, 11*eniPods + 255 + 100, 1024 + 2048},
		{"Custom, whatever maxPods", family(custom, 8), 90, 11*eniPods + 255 + 100, 1024 + 2048},
		{"Bottlerocket by maxPods", family(bottlerocket, 8), 90, 11*8 + 255 + 100, 1024 + 2048},
		{"Windows by maxPods", family("Windows2022", 8), 90, 11*8 + 255 + 100, 1024 + 5120},
		{"the reserved interfaces do not count", cluster.NodeClass{ReservedENI: 2}, 90, 11*eniPods + 255 + 100, 1024 + 2048},
		{"kubeReserved, one by one", kubelet(cluster.Kubelet{KubeReserved: map[string]string{"memory": "1Gi"}}), 90, 1024 + 100, 1024 + 2048},
		{"kubeReserved of all", kubelet(cluster.Kubelet{KubeReserved: map[string]string{"memory": "1Gi", "cpu": "250m", "ephemeral-storage": "3Gi", "pid": "100"}}), 250, 1024 + 100, 3072 + 2048},
		{"systemReserved adds", kubelet(cluster.Kubelet{SystemReserved: map[string]string{"memory": "256Mi", "cpu": "1", "ephemeral-storage": "1Gi"}}), 1090, 11*eniPods + 255 + 100 + 256, 2048 + 2048},
		{"evictionHard in bytes", kubelet(cluster.Kubelet{EvictionHard: map[string]string{"memory.available": "500Mi", "nodefs.available": "1Gi"}}), 90, 11*eniPods + 255 + 500, 1024 + 1024},
		{"evictionHard in per cent, rounded up", kubelet(cluster.Kubelet{EvictionHard: map[string]string{"nodefs.available": "5%"}}), 90, 11*eniPods + 255 + 100, 1024 + 1024},
		{"100% turns it off", kubelet(cluster.Kubelet{EvictionHard: map[string]string{"memory.available": "100%", "nodefs.available": "100%"}}), 90, 11*eniPods + 255, 1024},
		{"0% too", kubelet(cluster.Kubelet{EvictionHard: map[string]string{"memory.available": "0%"}}), 90, 11*eniPods + 255, 1024 + 2048},
		{"evictionSoft is ignored", kubelet(cluster.Kubelet{EvictionSoft: map[string]string{"memory.available": "5Gi"}}), 90, 11*eniPods + 255 + 100, 1024 + 2048},
		{"what does not parse is not set", kubelet(cluster.Kubelet{KubeReserved: map[string]string{"memory": "lots"}, SystemReserved: map[string]string{"cpu": "-1"},
			EvictionHard: map[string]string{"memory.available": "NaN%", "nodefs.available": "-5%"}}), 90, 11*eniPods + 255 + 100, 1024 + 2048},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := plain()
			capacity, allocatable := amounts(settingsOf(&c.class), &f)
			diff := capacity.Sub(allocatable)
			if got := diff.Get(cluster.CPU); got != c.cpu {
				t.Errorf("cpu: %dm, want %dm", got, c.cpu)
			}
			if got := diff.Get(cluster.Memory); got != c.memory*mib {
				t.Errorf("memory: %d bytes, want %d Mi", got, c.memory)
			}
			if got := diff.Get(cluster.EphemeralStorage); got != c.storage*mib {
				t.Errorf("storage: %d bytes, want %d Mi", got, c.storage)
			}
		})
	}
}

func TestOverheadNeverPassesTheMachine(t *testing.T) {
	all := map[string]string{"cpu": "9E", "memory": "9E", "ephemeral-storage": "9E"}
	class := cluster.NodeClass{AMIFamily: bottlerocket, Kubelet: cluster.Kubelet{
		MaxPods: ptr[int64](math.MaxInt64), KubeReserved: all, SystemReserved: all,
		EvictionHard: map[string]string{"memory.available": "9E", "nodefs.available": "99E"}}}
	f := plain()
	_, allocatable := amounts(settingsOf(&class), &f)
	for _, r := range allocatable {
		if r.Name != cluster.Pods && r.Amount != 0 {
			t.Errorf("%s is %d, want 0", r.Name, r.Amount)
		}
	}
	class.Kubelet = cluster.Kubelet{MaxPods: ptr[int64](math.MaxInt64), PodsPerCore: ptr[int64](math.MaxInt64)}
	if _, allocatable = amounts(settingsOf(&class), &f); allocatable.Get(cluster.Memory) != 0 {
		t.Error("a node of a million pods has memory left")
	}
}

func TestEphemeralStorage(t *testing.T) {
	disk := func(device string, size int64) cluster.Disk {
		return cluster.Disk{DeviceName: device, SizeBytes: size * gib}
	}
	root := cluster.Disk{DeviceName: "/dev/sdb", SizeBytes: 80 * gib, Root: true}
	cases := []struct {
		name  string
		class cluster.NodeClass
		nvme  int64
		disk  int64
		want  int64
	}{
		{"AL2023", cluster.NodeClass{}, 0, 0, 20 * gib},
		{"Bottlerocket", cluster.NodeClass{AMIFamily: bottlerocket}, 0, 0, 20 * gib},
		{"Windows", cluster.NodeClass{AMIFamily: "Windows2025"}, 0, 0, 50 * gib},
		{"Custom", cluster.NodeClass{AMIFamily: custom}, 0, 0, 20 * gib},
		{"the family's device", cluster.NodeClass{Disks: []cluster.Disk{disk("/dev/xvda", 100), disk("/dev/xvdb", 200)}}, 0, 0, 100 * gib},
		{"Bottlerocket's device", cluster.NodeClass{AMIFamily: bottlerocket, Disks: []cluster.Disk{disk("/dev/xvda", 4), disk("/dev/xvdb", 200)}}, 0, 0, 200 * gib},
		{"Windows' device", cluster.NodeClass{AMIFamily: "Windows2022", Disks: []cluster.Disk{disk("/dev/sda1", 70)}}, 0, 0, 70 * gib},
		{"the root", cluster.NodeClass{Disks: []cluster.Disk{disk("/dev/xvda", 100), root}}, 0, 0, 80 * gib},
		{"Custom: the last", cluster.NodeClass{AMIFamily: custom, Disks: []cluster.Disk{disk("/dev/a", 30), disk("/dev/b", 40)}}, 0, 0, 40 * gib},
		{"another device", cluster.NodeClass{Disks: []cluster.Disk{disk("/dev/sdz", 100)}}, 0, 0, 20 * gib},
		{"a snapshot without a size", cluster.NodeClass{Disks: []cluster.Disk{disk("/dev/xvda", 0)}}, 0, 0, 20 * gib},
		{"RAID0", cluster.NodeClass{RAID0: true}, 3800, 0, 3_800_000_000_000},
		{"RAID0 of disks", cluster.NodeClass{RAID0: true}, 0, 4000, 4_000_000_000_000},
		{"RAID0 without an instance store", cluster.NodeClass{RAID0: true, Disks: []cluster.Disk{root}}, 0, 0, 80 * gib},
		{"an instance store that is not asked for", cluster.NodeClass{}, 3800, 0, 20 * gib},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := plain()
			f.LocalNVMeGB, f.LocalDiskGB = c.nvme, c.disk
			capacity, _ := amounts(settingsOf(&c.class), &f)
			if got := capacity.Get(cluster.EphemeralStorage); got != c.want {
				t.Errorf("%d bytes, want %d", got, c.want)
			}
		})
	}
}

func TestDevices(t *testing.T) {
	f := plain()
	f.BranchENIs, f.EFAs = 38, 2
	f.GPUs = []GPU{{"l4", "nvidia", 4, 100}, {"v520", "amd", 2, 100}, {"gaudi", "habana", 1, 100}, {"other", "acme", 1, 1}}
	f.Neuron = &Neuron{Name: "trainium", Devices: 16, Cores: 2}
	capacity, allocatable := amounts(settingsOf(&cluster.NodeClass{AMIFamily: "Windows2022"}), &f)
	want := map[string]int64{"nvidia.com/gpu": 4, "amd.com/gpu": 2, "habana.ai/gaudi": 1,
		"aws.amazon.com/neuron": 16, "aws.amazon.com/neuroncore": 32,
		"vpc.amazonaws.com/efa": 2, "vpc.amazonaws.com/pod-eni": 38, "vpc.amazonaws.com/PrivateIPv4Address": 14}
	for name, n := range want {
		if capacity.Get(name) != n || allocatable.Get(name) != n {
			t.Errorf("%s: %d of %d, want %d", name, allocatable.Get(name), capacity.Get(name), n)
		}
	}
	if diff := cmp.Diff(cluster.ResourcesOf(capacity.Map()), capacity); diff != "" {
		t.Errorf("not in the order of names: %s", diff)
	}
	f.GPUs = []GPU{{"l4", "nvidia", 0, 2861}} // a part of a GPU
	capacity, _ = amounts(settingsOf(&cluster.NodeClass{}), &f)
	if capacity.Has("nvidia.com/gpu") || capacity.Has("vpc.amazonaws.com/PrivateIPv4Address") {
		t.Errorf("counts what is not there: %v", capacity)
	}
}

func TestVolumeLimit(t *testing.T) {
	cases := []struct {
		name string
		make func(*Facts)
		want int64
	}{
		{"a limit of its own, less the root", func(f *Facts) {}, 31},
		{"Xen", func(f *Facts) { f.Hypervisor = "xen" }, 39},
		{"shared with the interfaces", func(f *Facts) { f.EBSVolumes = 0 }, 28 - 4 - 1},
		{"and the instance store", func(f *Facts) { f.EBSVolumes, f.LocalDisks = 0, 4 }, 28 - 4 - 1 - 4},
		{"and GPUs", func(f *Facts) { f.EBSVolumes = 0; f.GPUs = []GPU{{Count: 8}} }, 28 - 4 - 1 - 8},
		{"and accelerators", func(f *Facts) { f.EBSVolumes = 0; f.Neuron = &Neuron{Devices: 16} }, 28 - 4 - 1 - 16},
		{"one at least", func(f *Facts) { f.EBSVolumes, f.DefaultCardENIs, f.LocalDisks = 0, 15, 24 }, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			f := plain()
			c.make(&f)
			if got := volumeLimit(&f); got != c.want {
				t.Errorf("%d volumes, want %d", got, c.want)
			}
		})
	}
}

func TestExotic(t *testing.T) {
	types := byName(embedded(t, "us-east-1").InstanceTypes(nil))
	for name, want := range map[string]bool{"m7i.large": false, "m7i.metal-24xl": true, "g6.xlarge": true, "g6f.large": true,
		"inf2.xlarge": true, "f2.6xlarge": true, "vt1.3xlarge": true, "x2gd.large": false, "hpc7g.4xlarge": false} {
		if types[name] == nil {
			t.Errorf("%s is not there", name)
		} else if types[name].Exotic != want {
			t.Errorf("%s: exotic is %v, want %v", name, types[name].Exotic, want)
		}
	}
}

func TestNotOffered(t *testing.T) {
	cases := []struct {
		name  string
		class *cluster.NodeClass
		with  []string // some that are there
		out   []string // some that are not
	}{
		{"AL2023 and a1", nil, []string{"m7i.large", "t4g.small", "m4.large"}, []string{"a1.large", "a1.metal", "mac2.metal", "mac1.metal"}},
		{"AL2 and a1", &cluster.NodeClass{AMIFamily: al2}, []string{"a1.large"}, nil},
		{"images of one architecture", &cluster.NodeClass{AMIArchs: []string{"arm64"}}, []string{"m7g.large"}, []string{"m7i.large"}},
		{"images of both", &cluster.NodeClass{AMIArchs: []string{"arm64", "amd64"}}, []string{"m7g.large", "m7i.large"}, nil},
		{"Windows", &cluster.NodeClass{AMIFamily: "Windows2022"}, []string{"m7i.large"}, []string{"m7g.large"}},
		{"three interfaces", &cluster.NodeClass{Interfaces: 3}, []string{"m7i.large"}, []string{"t3.nano"}},
		{"a second card", &cluster.NodeClass{MaxCard: 1}, []string{"c6in.32xlarge", "p5.48xlarge"}, []string{"m7i.48xlarge"}},
		{"a 32nd card", &cluster.NodeClass{MaxCard: 31}, []string{"p5.48xlarge"}, []string{"c6in.32xlarge"}},
		{"efa-only", &cluster.NodeClass{EFAOnly: 1}, []string{"c6in.32xlarge"}, []string{"m7i.large"}},
		{"nested virtualization", &cluster.NodeClass{NestedVirt: true}, []string{"c8i.large"}, []string{"m5.large"}},
		{"connection tracking", &cluster.NodeClass{NitroOnly: true}, []string{"m5.large", "m7i.metal-24xl"}, []string{"m4.large"}},
	}
	c := embedded(t, "us-east-1")
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			types := byName(c.InstanceTypes(tc.class))
			for _, name := range tc.with {
				if types[name] == nil {
					t.Errorf("%s is missing", name)
				}
			}
			for _, name := range tc.out {
				if types[name] != nil {
					t.Errorf("%s is offered", name)
				}
			}
		})
	}
}
