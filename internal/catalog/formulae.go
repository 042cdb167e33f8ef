package catalog

import "github.com/dovetail-sh/dovetail/internal/cluster"

// Names of the extended resources that instance types bring.
const (
	resourceNVIDIA      = "nvidia.com/gpu"
	resourceAMD         = "amd.com/gpu"
	resourceGaudi       = "habana.ai/gaudi"
	resourceNeuron      = "aws.amazon.com/neuron"
	resourceNeuronCore  = "aws.amazon.com/neuroncore"
	resourceEFA         = "vpc.amazonaws.com/efa"
	resourcePodENI      = "vpc.amazonaws.com/pod-eni"
	resourcePrivateIPv4 = "vpc.amazonaws.com/PrivateIPv4Address"
)

// gpuResources maps a GPU's manufacturer to the resource that counts it.
var gpuResources = map[string]string{"nvidia": resourceNVIDIA, "amd": resourceAMD, "habana": resourceGaudi}

const (
	windowsPods = 110
	maxPods     = 1_000_000 // what a setting counts as at most
)

// resources fills in capacity and allocatable of a type.
func (s *settings) resources(f *Facts, t *cluster.InstanceType, amounts *slab[cluster.Resource]) {
	pods := s.pods(f)
	cpu := f.VCPUs * 1000
	memory := memoryBytes(f)
	ephemeral := s.ephemeralBytes(f)

	// In the order of their names, which cluster.Resources asks for.
	var buf [16]cluster.Resource
	list := buf[:0]
	add := func(name string, n int64) {
		if n > 0 {
			list = append(list, cluster.Resource{Name: name, Amount: n})
		}
	}
	add(resourceAMD, gpuCount(f, resourceAMD))
	if f.Neuron != nil {
		add(resourceNeuron, f.Neuron.Devices)
		add(resourceNeuronCore, f.Neuron.Devices*f.Neuron.Cores)
	}
	list = append(list, cluster.Resource{Name: cluster.CPU, Amount: cpu},
		cluster.Resource{Name: cluster.EphemeralStorage, Amount: ephemeral})
	add(resourceGaudi, gpuCount(f, resourceGaudi))
	list = append(list, cluster.Resource{Name: cluster.Memory, Amount: memory})
	add(resourceNVIDIA, gpuCount(f, resourceNVIDIA))
	list = append(list, cluster.Resource{Name: cluster.Pods, Amount: pods})
	if s.os == "windows" {
		add(resourcePrivateIPv4, f.IPv4PerENI-1)
	}
	add(resourceEFA, f.EFAs)
	add(resourcePodENI, f.BranchENIs)
	t.Capacity = amounts.take(list)

	reserve := s.kubeReserved(f, pods)
	for i := range list {
		r := &list[i]
		switch r.Name {
		case cluster.CPU:
			r.Amount -= reserve.cpu + s.system[cluster.CPU]
		case cluster.Memory:
			r.Amount -= reserve.memory + s.system[cluster.Memory] + s.evictMemory.of(memory)
		case cluster.EphemeralStorage:
			r.Amount -= reserve.ephemeral + s.system[cluster.EphemeralStorage] + s.evictEphemeral.of(ephemeral)
		}
		r.Amount = max(r.Amount, 0)
	}
	t.Allocatable = amounts.take(list)
}

// pods is how many pods a node of the type takes.
func (s *settings) pods(f *Facts) int64 {
	n := int64(windowsPods)
	switch {
	case s.maxPods != nil:
		n = min(*s.maxPods, maxPods)
	case s.os != "windows":
		n = eniPods(f, s.class.ReservedENI, s.class.EFAOnly)
	}
	if s.podsPerCore != nil && *s.podsPerCore > 0 {
		n = min(n, min(*s.podsPerCore, maxPods)*f.VCPUs)
	}
	return max(n, 0)
}

// eniPods is how many pods the VPC CNI can give an address to: each interface of
// the default card has one address of its own, and two pods use the host's.
func eniPods(f *Facts, reservedENIs, efaOnly int64) int64 {
	enis := f.DefaultCardENIs - min(max(reservedENIs, 0), f.DefaultCardENIs) - min(max(efaOnly, 0), f.DefaultCardENIs)
	if enis <= 0 {
		return 0
	}
	return enis*(f.IPv4PerENI-1) + 2
}

// memoryBytes is what the operating system of a node finds: the hypervisor, the
// firmware and the kernel take 7.5 %, and on arm64 64 MiB more.
func memoryBytes(f *Facts) int64 {
	m := f.MemoryMiB
	if f.Arch == "arm64" {
		m -= 64
	}
	overhead := (m*75 + 999) / 1000
	return max(m-overhead, 0) * mib
}

// reservation is what a node keeps for the kubelet and the container runtime.
type reservation struct{ cpu, memory, ephemeral int64 }

// kubeReserved is what the EKS images reserve, with the user's settings in place
// of it, resource by resource.
func (s *settings) kubeReserved(f *Facts, pods int64) reservation {
	switch s.family {
	case al2, al2023, custom:
		// Their bootstrap looks the number up by type and knows no maxPods.
		pods = eniPods(f, 0, s.class.EFAOnly)
	}
	r := reservation{
		cpu:       reservedMilliCPU(f.VCPUs),
		memory:    (11*pods + 255) * mib,
		ephemeral: gib,
	}
	set := func(to *int64, name string) {
		if v, ok := s.kube[name]; ok {
			*to = v
		}
	}
	set(&r.cpu, cluster.CPU)
	set(&r.memory, cluster.Memory)
	set(&r.ephemeral, cluster.EphemeralStorage)
	return r
}

// reservedMilliCPU is 6 % of the first core, 1 % of the second, 0.5 % of the next
// two and 0.25 % of each further one, rounded up to whole thousandths in all.
func reservedMilliCPU(cores int64) int64 {
	tenths := 600 * min(cores, 1)
	tenths += 100 * min(max(cores-1, 0), 1)
	tenths += 50 * min(max(cores-2, 0), 2)
	tenths += 25 * max(cores-4, 0)
	return (tenths + 9) / 10
}

// ephemeralBytes is the volume that pods write to: the instance store as one
// array where the class asks for that and the type has one, else the root volume.
func (s *settings) ephemeralBytes(f *Facts) int64 {
	if store := f.LocalNVMeGB + f.LocalDiskGB; s.class.RAID0 && store > 0 {
		return store * 1_000_000_000
	}
	return s.rootBytes
}

func gpuCount(f *Facts, name string) int64 {
	n := int64(0)
	for i := range f.GPUs {
		if gpuResources[f.GPUs[i].Manufacturer] == name {
			n += f.GPUs[i].Count
		}
	}
	return n
}

// exotic tells whether a type costs what it costs for something that most pods
// cannot use: bare metal, GPUs, and accelerators, be they of a kind that no
// resource counts (FPGA, media and other machine learning cards).
func exotic(f *Facts) bool {
	if f.BareMetal || len(f.GPUs) > 0 || f.Neuron != nil {
		return true
	}
	n, _ := splitName(f.Name)
	switch n.category {
	case "f", "vt", "dl":
		return true
	}
	return false
}

// The attachment limits of EBS. Source: "Amazon EBS volume limits for Amazon EC2
// instances" in the EC2 user guide
// (docs.aws.amazon.com/AWSEC2/latest/UserGuide/volume_limits.html).
const (
	nitroSlots = 28 // shared by volumes, interfaces, instance store and accelerators
	xenVolumes = 39
)

// volumeLimit is how many EBS volumes surely attach to a node besides the root.
// Where the limit is for EBS alone that is all but one of it. Where the slots are
// shared, as many are taken away as the node may come to need: every interface of
// its default card (a full node uses all of them), its instance store volumes and
// its accelerators. A node that has joined tells by its CSINode, which then counts.
func volumeLimit(f *Facts) int64 {
	switch {
	case f.Hypervisor == "xen":
		return xenVolumes
	case f.EBSVolumes > 0:
		return f.EBSVolumes - 1
	}
	n := nitroSlots - f.DefaultCardENIs - f.LocalDisks - 1
	for i := range f.GPUs {
		n -= f.GPUs[i].Count
	}
	if f.Neuron != nil {
		n -= f.Neuron.Devices
	}
	return max(n, 1)
}
