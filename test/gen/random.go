package gen

import (
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// Feature is a kind of constraint that a random cluster may have.
type Feature uint32

// The features. Every one but the first is about more than resources.
const (
	Selectors    Feature = 1 << iota // node selectors, required node affinity, every operator
	Taints                           // taints of pools and nodes, tolerations
	Ports                            // host ports
	Spread                           // topology spread, every key and policy
	Affinity                         // required pod affinity
	AntiAffinity                     // required pod anti-affinity
	Preferences                      // preferred affinities, soft spread
	Volumes                          // claims, volumes, classes, CSI limits
	Standing                         // standing nodes with bound pods
	Claims                           // claims in flight, nodes that start or leave
	Daemons                          // DaemonSets
	Pools                            // several NodePools with weights, custom labels
	Limits                           // NodePool limits
	MinValues                        // minValues on NodePool requirements
	Reserved                         // reserved offerings
	Overlays                         // NodeOverlays
	Oddities                         // gated, nominated, virtual, hopeless pods; priorities
	GPUs                             // an extended resource and types that have it
	last
)

// All is every feature.
const All = last - 1

// Size says how large a random cluster is and what it may contain.
type Size struct {
	Pods, Nodes, Types int
	// Features that may occur; 0 leaves the choice to the seed, so that many a
	// seed gives a cluster with few of them, in which a fault is easy to read.
	Features Feature
}

// Random makes a cluster and its catalogue.
func Random(seed uint64, size Size) (cluster.Snapshot, []cluster.InstanceType) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x5eed)), size: size, features: size.Features}
	if g.features == 0 {
		g.features = Feature(g.Uint32()&g.Uint32()|1<<g.IntN(18)) & All
		if g.IntN(4) == 0 {
			g.features = Feature(g.Uint32()|g.Uint32()) & All
		}
	}
	g.snap.Cluster, g.snap.Region = "random", "us-east-1"
	g.makeTypes()
	g.makePools()
	g.makeNamespaces()
	g.makeVolumes()
	g.makeDaemons()
	g.makeGroups()
	g.makeNodes()
	g.makeClaims()
	g.makePods()
	g.shuffle()
	return g.snap, g.types
}

// generator is one run of Random.
type generator struct {
	*rand.Rand
	size     Size
	features Feature
	snap     cluster.Snapshot
	types    []cluster.InstanceType
	groups   []group
	count    int // pods made
}

func (g *generator) has(f Feature) bool { return g.features&f != 0 }

// one is true once in n times.
func (g *generator) one(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

// some picks a part of a list, at least one, in its order.
func some[T any](g *generator, list ...T) []T {
	out := slices.DeleteFunc(slices.Clone(list), func(T) bool { return g.one(2) })
	if len(out) == 0 {
		out = []T{pick(g, list...)}
	}
	return out
}

var (
	zones      = []string{"us-east-1a", "us-east-1b", "us-east-1c"}
	teams      = []string{"red", "green", "blue"}
	namespaces = []string{"default", "team-a", "team-b"}
)

const (
	gib  = int64(1) << 30
	team = "example.com/team" // a custom label

	awsCategory   = "karpenter.k8s.aws/instance-category"
	awsFamily     = "karpenter.k8s.aws/instance-family"
	awsGeneration = "karpenter.k8s.aws/instance-generation"
	awsSize       = "karpenter.k8s.aws/instance-size"
	awsCPU        = "karpenter.k8s.aws/instance-cpu"
	awsMemory     = "karpenter.k8s.aws/instance-memory"
	awsGPUCount   = "karpenter.k8s.aws/instance-gpu-count"
	awsGPUName    = "karpenter.k8s.aws/instance-gpu-name"

	gpu       = "nvidia.com/gpu"
	ebsDriver = "ebs.csi.aws.com"
)

// makeTypes draws a catalogue of a few families.
func (g *generator) makeTypes() {
	families := []struct {
		name, arch string
		mem        int64 // GiB a core
		price      float64
	}{{"c5", "amd64", 2, .0425}, {"m5", "amd64", 4, .048}, {"m6g", "arm64", 4, .0385}, {"r6i", "amd64", 8, .063}, {"c7g", "arm64", 2, .0363}, {"g5", "amd64", 4, .25}}
	sizes := []struct {
		name string
		cpus int64
	}{{"large", 2}, {"xlarge", 4}, {"2xlarge", 8}, {"4xlarge", 16}}
	seen := map[string]bool{}
	for len(g.types) < g.size.Types && len(seen) < 24 {
		f, s := pick(g, families...), pick(g, sizes...)
		name := f.name + "." + s.name
		if seen[name] || f.name == "g5" && !g.has(GPUs) {
			seen[name] = true
			continue
		}
		seen[name] = true
		price := f.price * float64(s.cpus) * (0.9 + 0.2*g.Float64())
		g.types = append(g.types, g.instanceType(name, f.name, s.name, f.arch, s.cpus, s.cpus*f.mem, price))
	}
	slices.SortFunc(g.types, func(a, b cluster.InstanceType) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
}

func (g *generator) instanceType(name, family, size, arch string, cpus, mem int64, price float64) cluster.InstanceType {
	capacity := map[string]int64{cluster.CPU: cpus * 1000, cluster.Memory: mem * gib, cluster.EphemeralStorage: 20 * gib, cluster.Pods: 6 + int64(g.IntN(30))}
	t := cluster.InstanceType{
		Name: name, Arch: arch, OS: "linux", VolumeLimit: 2 + int64(g.IntN(8)),
		Labels: map[string]string{
			cluster.LabelInstanceType: name, cluster.LabelArch: arch, cluster.LabelOS: "linux",
			awsCategory: family[:1], awsFamily: family, awsGeneration: family[1:2], awsSize: size,
			awsCPU: fmt.Sprint(cpus), awsMemory: fmt.Sprint(mem * 1024),
		},
	}
	if family == "g5" {
		capacity[gpu] = max(1, cpus/4)
		t.Exotic = true
		t.Labels[awsGPUCount], t.Labels[awsGPUName] = fmt.Sprint(capacity[gpu]), "a10g"
	}
	t.Capacity = cluster.ResourcesOf(capacity)
	capacity[cluster.CPU] -= 60 + 5*cpus
	capacity[cluster.Memory] -= gib/2 + capacity[cluster.Pods]*11<<20
	capacity[cluster.EphemeralStorage] -= 3 * gib
	t.Allocatable = cluster.ResourcesOf(capacity)
	for _, z := range some(g, zones...) {
		t.Offerings = append(t.Offerings, cluster.Offering{Zone: z, ZoneID: zoneID(z), CapacityType: cluster.OnDemand, Price: price, Unavailable: g.one(12)})
		if !g.one(6) {
			t.Offerings = append(t.Offerings, cluster.Offering{Zone: z, ZoneID: zoneID(z), CapacityType: cluster.Spot, Price: price * (.3 + .5*g.Float64()), Unavailable: g.one(12), Estimate: true})
		}
		if g.has(Reserved) && g.one(5) {
			t.Offerings = append(t.Offerings, cluster.Offering{Zone: z, ZoneID: zoneID(z), CapacityType: cluster.Reserved, Price: price / 1e7,
				ReservationID: "cr-" + name + "-" + z, ReservationType: "default", ReservationCount: int64(g.IntN(3))})
		}
	}
	return t
}

func zoneID(zone string) string { return "use1-az" + zone[len(zone)-1:] }

// makePools draws NodePools over one or two node classes.
func (g *generator) makePools() {
	classes := 1
	n := 1
	if g.has(Pools) {
		n, classes = 1+g.IntN(3), 1+g.IntN(2)
	}
	for i := range classes {
		c := cluster.NodeClass{Name: fmt.Sprintf("class-%d", i), AMIFamily: "AL2023", ZoneIDs: map[string]string{}}
		for _, z := range zones {
			c.ZoneIDs[z] = zoneID(z)
		}
		if g.has(Pools) && g.one(4) {
			c.Zones = some(g, zones...)
		}
		if g.has(Pools) && g.one(6) {
			c.AMIArchs = []string{pick(g, "amd64", "arm64")}
		}
		g.snap.NodeClasses = append(g.snap.NodeClasses, c)
	}
	for i := range n {
		g.snap.NodePools = append(g.snap.NodePools, g.pool(i, fmt.Sprintf("class-%d", g.IntN(classes))))
	}
	if g.has(Overlays) {
		g.makeOverlays()
	}
}

func (g *generator) pool(i int, class string) cluster.NodePool {
	p := cluster.NodePool{Name: fmt.Sprintf("pool-%d", i), UID: fmt.Sprintf("pool-uid-%d", i), NodeClass: cluster.NodeClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: class}, Labels: map[string]string{}}
	require := func(key string, op cluster.Operator, values ...string) {
		p.Requirements = append(p.Requirements, cluster.Requirement{Key: key, Operator: op, Values: values})
	}
	kinds := some(g, cluster.OnDemand, cluster.Spot)
	if g.has(Reserved) {
		kinds = append(kinds, cluster.Reserved)
	}
	require(cluster.LabelCapacityType, cluster.In, kinds...)
	if g.has(Pools) {
		p.Weight = int32(g.IntN(4) * 10)
		g.restrict(&p, require)
		p.Deleting = g.one(15)
	}
	if g.has(MinValues) {
		r := &p.Requirements
		*r = append(*r, cluster.Requirement{Key: pick(g, awsFamily, cluster.LabelInstanceType, awsSize), Operator: cluster.Exists, MinValues: 1 + g.IntN(3)})
	}
	if g.has(Taints) && g.one(3) {
		p.Taints = append(p.Taints, g.taint())
	}
	if g.has(Taints) && g.one(3) {
		p.StartupTaints = append(p.StartupTaints, corev1.Taint{Key: "example.com/starting", Effect: corev1.TaintEffectNoSchedule})
	}
	if g.has(Limits) {
		g.limit(&p)
	}
	return p
}

// restrict gives a pool requirements of its own and custom labels.
func (g *generator) restrict(p *cluster.NodePool, require func(string, cluster.Operator, ...string)) {
	switch g.IntN(9) {
	case 0:
		require(cluster.LabelArch, cluster.In, pick(g, "amd64", "arm64"))
	case 1:
		require(awsCPU, pick(g, cluster.Gt, cluster.Gte), pick(g, "2", "4"))
	case 2:
		require(awsCPU, pick(g, cluster.Lt, cluster.Lte), pick(g, "8", "16"))
	case 3:
		require(awsCategory, cluster.NotIn, pick(g, "c", "m", "r"))
	case 4:
		require(cluster.LabelZone, cluster.In, some(g, zones...)...)
	case 5:
		require(awsGPUCount, cluster.DoesNotExist)
	}
	switch g.IntN(5) {
	case 0:
		require(team, cluster.In, some(g, teams...)...)
	case 1:
		p.Labels[team] = pick(g, teams...)
	case 2:
		require(team, cluster.NotIn, pick(g, teams...))
	}
}

func (g *generator) limit(p *cluster.NodePool) {
	switch g.IntN(4) {
	case 0:
		p.Limits = p.Limits.With(cluster.CPU, int64(2+g.IntN(30))*1000)
	case 1:
		p.Limits = p.Limits.With(cluster.Memory, int64(8+g.IntN(120))*gib)
	case 2:
		p.Limits = p.Limits.With(cluster.Nodes, int64(g.IntN(6)))
	case 3:
		p.Limits = p.Limits.With(cluster.CPU, int64(8+g.IntN(60))*1000).With(cluster.Nodes, int64(1+g.IntN(8)))
	}
}

func (g *generator) makeOverlays() {
	adjust, price := -.01+.02*g.Float64(), .01+.1*g.Float64()
	percent := float64(g.IntN(60) - 30)
	g.snap.Overlays = append(g.snap.Overlays, cluster.NodeOverlay{Name: "by-category", Weight: 10, Adjustment: &percent, Percent: true,
		Requirements: []cluster.Requirement{{Key: awsCategory, Operator: cluster.In, Values: some(g, "c", "m", "r")}}})
	if g.one(2) {
		g.snap.Overlays = append(g.snap.Overlays, cluster.NodeOverlay{Name: "by-arch", Weight: 20, Adjustment: &adjust,
			Requirements: []cluster.Requirement{{Key: cluster.LabelArch, Operator: cluster.NotIn, Values: []string{"arm64"}}}})
	}
	if g.one(2) {
		g.snap.Overlays = append(g.snap.Overlays, cluster.NodeOverlay{Name: "by-type", Weight: 30, Price: &price,
			Requirements: []cluster.Requirement{{Key: cluster.LabelInstanceType, Operator: cluster.In, Values: []string{pick(g, g.types...).Name}}, {Key: cluster.LabelCapacityType, Operator: cluster.NotIn, Values: []string{cluster.Reserved}}}})
	}
	if g.one(3) {
		g.snap.Overlays = append(g.snap.Overlays, cluster.NodeOverlay{Name: "dongles", Weight: 1, Capacity: cluster.ResourcesOf(map[string]int64{dongle: 2}),
			Requirements: []cluster.Requirement{{Key: awsSize, Operator: cluster.In, Values: []string{"large", "2xlarge"}}}})
	}
}

const dongle = "example.com/dongle"

func (g *generator) taint() corev1.Taint {
	return corev1.Taint{Key: "example.com/" + pick(g, "dedicated", "batch"), Value: pick(g, "", "x"), Effect: pick(g, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule)}
}

func (g *generator) makeNamespaces() {
	for i, n := range namespaces {
		g.snap.Namespaces = append(g.snap.Namespaces, cluster.Namespace{Name: n, Labels: map[string]string{corev1.LabelMetadataName: n, "tier": []string{"x", "y", "y"}[i]}})
	}
}

// shuffle puts the lists into no particular order, which is what a decider may
// count on.
func (g *generator) shuffle() {
	mix(g, g.snap.Pods)
	mix(g, g.snap.Nodes)
	mix(g, g.snap.Claims)
	mix(g, g.snap.NodePools)
	mix(g, g.snap.DaemonSets)
	mix(g, g.snap.PVCs)
}

func mix[T any](g *generator, list []T) {
	g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// Permute returns the snapshot and the catalogue with every list in another
// order. Nothing that a plan depends on changes.
func Permute(seed uint64, snap cluster.Snapshot, types []cluster.InstanceType) (cluster.Snapshot, []cluster.InstanceType) {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0xca7))}
	snap.Pods, snap.Nodes, snap.Claims = mixed(g, snap.Pods), mixed(g, snap.Nodes), mixed(g, snap.Claims)
	snap.NodePools, snap.NodeClasses, snap.Overlays = mixed(g, snap.NodePools), mixed(g, snap.NodeClasses), mixed(g, snap.Overlays)
	snap.DaemonSets, snap.PVCs, snap.PVs = mixed(g, snap.DaemonSets), mixed(g, snap.PVCs), mixed(g, snap.PVs)
	snap.StorageClasses, snap.PDBs, snap.Namespaces = mixed(g, snap.StorageClasses), mixed(g, snap.PDBs), mixed(g, snap.Namespaces)
	types = mixed(g, types)
	for i := range types {
		types[i].Offerings = mixed(g, types[i].Offerings)
	}
	return snap, types
}

func mixed[T any](g *generator, list []T) []T {
	list = slices.Clone(list)
	mix(g, list)
	return list
}
