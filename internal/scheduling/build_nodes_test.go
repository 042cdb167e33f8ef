package scheduling_test

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/scheduling"
)

// machine is an amd64 instance type with room for 10 pods and 4 volumes.
func machine(name string, cores, gi int64, price float64, changes ...func(*cluster.InstanceType)) cluster.InstanceType {
	all := cluster.ResourcesOf(map[string]int64{cluster.CPU: cores * 1000, cluster.Memory: gi * gib, cluster.Pods: 10})
	t := cluster.InstanceType{
		Name: name, Arch: "amd64", OS: "linux", VolumeLimit: 4, Capacity: all, Allocatable: all,
		Labels: map[string]string{cluster.LabelInstanceType: name, cluster.LabelArch: "amd64", cluster.LabelOS: "linux", cluster.LabelRegion: "r",
			"karpenter.k8s.aws/instance-cpu": strconv.FormatInt(cores, 10), "karpenter.k8s.aws/instance-family": name[:1]},
	}
	for _, z := range []string{"a", "b", "c"} {
		t.Offerings = append(t.Offerings, cluster.Offering{Zone: z, ZoneID: "id-" + z, CapacityType: cluster.OnDemand, Price: price})
	}
	for _, c := range changes {
		c(&t)
	}
	return t
}

func arm(t *cluster.InstanceType) {
	t.Arch = "arm64"
	t.Labels[cluster.LabelArch] = "arm64"
}

func exotic(t *cluster.InstanceType) { t.Exotic = true }

// has adds a resource to a type.
func has(resource string, amount int64) func(*cluster.InstanceType) {
	return func(t *cluster.InstanceType) {
		t.Capacity, t.Allocatable = t.Capacity.With(resource, amount), t.Allocatable.With(resource, amount)
	}
}

func volumes(n int64) func(*cluster.InstanceType) {
	return func(t *cluster.InstanceType) { t.VolumeLimit = n }
}

// soldIn leaves the type's offerings in some zones only.
func soldIn(zones ...string) func(*cluster.InstanceType) {
	return func(t *cluster.InstanceType) {
		t.Offerings = slices.DeleteFunc(t.Offerings, func(o cluster.Offering) bool { return !slices.Contains(zones, o.Zone) })
	}
}

// spotAt sells the type as spot too, at a share of the price.
func spotAt(share float64) func(*cluster.InstanceType) {
	return func(t *cluster.InstanceType) {
		for _, o := range slices.Clone(t.Offerings) {
			o.CapacityType, o.Price = cluster.Spot, o.Price*share
			t.Offerings = append(t.Offerings, o)
		}
	}
}

// dearer multiplies the prices of one zone.
func dearer(z string, by float64) func(*cluster.InstanceType) {
	return func(t *cluster.InstanceType) {
		for i := range t.Offerings {
			if t.Offerings[i].Zone == z {
				t.Offerings[i].Price *= by
			}
		}
	}
}

func soldOut(z string) func(*cluster.InstanceType) {
	return func(t *cluster.InstanceType) {
		for i := range t.Offerings {
			if t.Offerings[i].Zone == z {
				t.Offerings[i].Unavailable = true
			}
		}
	}
}

// reserved adds instances of a reservation, which are as good as free.
func reserved(id, z string, count int64) func(*cluster.InstanceType) {
	return func(t *cluster.InstanceType) {
		t.Offerings = append(t.Offerings, cluster.Offering{Zone: z, ZoneID: "id-" + z, CapacityType: cluster.Reserved, Price: t.Offerings[0].Price / 1e7,
			ReservationID: id, ReservationType: "default", ReservationCount: count})
	}
}

// sizes are the types of the default pool: price and size go together.
func sizes(changes ...func(*cluster.InstanceType)) []cluster.InstanceType {
	return []cluster.InstanceType{machine("small", 2, 8, 1, changes...), machine("medium", 4, 16, 2, changes...), machine("large", 8, 32, 4, changes...)}
}

// pool is a NodePool of the three sizes.
func pool(name string, changes ...func(*scheduling.Pool)) scheduling.Pool {
	p := scheduling.Pool{Spec: &cluster.NodePool{Name: name, NodeClass: cluster.NodeClassRef{Name: "class"}}, Types: sizes()}
	for _, c := range changes {
		c(&p)
	}
	return p
}

func of(types ...cluster.InstanceType) func(*scheduling.Pool) {
	return func(p *scheduling.Pool) { p.Types = types }
}
func weight(w int32) func(*scheduling.Pool) { return func(p *scheduling.Pool) { p.Spec.Weight = w } }
func limited(name string, n int64) func(*scheduling.Pool) {
	return func(p *scheduling.Pool) { p.Spec.Limits = p.Spec.Limits.With(name, n) }
}
func using(name string, n int64) func(*scheduling.Pool) {
	return func(p *scheduling.Pool) { p.InUse = p.InUse.With(name, n) }
}

func gives(k, v string) func(*scheduling.Pool) {
	return func(p *scheduling.Pool) {
		if p.Spec.Labels == nil {
			p.Spec.Labels = map[string]string{}
		}
		p.Spec.Labels[k] = v
	}
}

func requires(key string, op cluster.Operator, values ...string) func(*scheduling.Pool) {
	return requiresMin(0, key, op, values...)
}

func requiresMin(n int, key string, op cluster.Operator, values ...string) func(*scheduling.Pool) {
	return func(p *scheduling.Pool) {
		p.Spec.Requirements = append(p.Spec.Requirements, cluster.Requirement{Key: key, Operator: op, Values: values, MinValues: n})
	}
}

func tainted(key string, effect corev1.TaintEffect) func(*scheduling.Pool) {
	return func(p *scheduling.Pool) {
		p.Spec.Taints = append(p.Spec.Taints, corev1.Taint{Key: key, Value: "yes", Effect: effect})
	}
}

func startupTainted(key string) func(*scheduling.Pool) {
	return func(p *scheduling.Pool) {
		p.Spec.StartupTaints = append(p.Spec.StartupTaints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
	}
}

// daemon runs a DaemonSet on the pool's nodes.
func daemon(name string, changes ...func(*cluster.Pod)) func(*scheduling.Pool) {
	return func(p *scheduling.Pool) {
		d := &cluster.DaemonSet{Namespace: "kube-system", Name: name, Template: *pod(name, append(slices.Clone(changes), in("kube-system"))...)}
		d.Template.Name = ""
		p.Daemons = append(p.Daemons, d)
	}
}

// node is a standing node of 2 cores and 8 GiB in a zone.
func node(name, z string, changes ...func(*scheduling.Standing)) scheduling.Standing {
	s := scheduling.Standing{
		Name:        name,
		Labels:      map[string]string{host: name, zone: z, arch: "amd64", cluster.LabelOS: "linux", kind: "small", paid: cluster.OnDemand},
		Allocatable: cluster.ResourcesOf(map[string]int64{cluster.CPU: 2000, cluster.Memory: 8 * gib, cluster.Pods: 10}),
	}
	for _, c := range changes {
		c(&s)
	}
	return s
}

func carries(k, v string) func(*scheduling.Standing) {
	return func(s *scheduling.Standing) { s.Labels[k] = v }
}
func lacks(k string) func(*scheduling.Standing) {
	return func(s *scheduling.Standing) { delete(s.Labels, k) }
}
func closed(s *scheduling.Standing) { s.Closed = true }
func full(s *scheduling.Standing)   { s.Used = s.Allocatable }

func room(name string, n int64) func(*scheduling.Standing) {
	return func(s *scheduling.Standing) { s.Allocatable = s.Allocatable.With(name, n) }
}

func taint(key string, effect corev1.TaintEffect) func(*scheduling.Standing) {
	return func(s *scheduling.Standing) {
		s.Taints = append(s.Taints, corev1.Taint{Key: key, Value: "yes", Effect: effect})
	}
}

func attaches(driver string, n int64) func(*scheduling.Standing) {
	return func(s *scheduling.Standing) { s.VolumeLimits = map[string]int64{driver: n} }
}

// runs binds pods to a standing node.
func runs(bound ...*cluster.Pod) func(*scheduling.Standing) {
	return func(s *scheduling.Standing) {
		for _, p := range bound {
			p.NodeName = s.Name
			s.Pods = append(s.Pods, p)
			s.Used = s.Used.Add(p.Requests).Add(cluster.Resources{{Name: cluster.Pods, Amount: 1}})
		}
	}
}

// pvc is a claim in the default namespace that is bound to a volume.
func pvc(name, volume string, changes ...func(*cluster.PVC)) cluster.PVC {
	c := cluster.PVC{Namespace: "default", Name: name, VolumeName: volume, Phase: corev1.ClaimBound, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}}
	for _, f := range changes {
		f(&c)
	}
	return c
}

// unbound is a claim of a StorageClass, "" being the default one.
func unbound(name, class string, changes ...func(*cluster.PVC)) cluster.PVC {
	c := pvc(name, "", changes...)
	c.Phase = corev1.ClaimPending
	if class != "" {
		c.StorageClass = &class
	}
	return c
}

// pv is an EBS volume in some zones.
func pv(name string, zones ...string) cluster.PV {
	return cluster.PV{Name: name, Driver: ebs, NodeAffinity: selector(exprs{expr(zone, "In", zones...)})}
}

const ebs = "ebs.csi.aws.com"

// storage is a StorageClass that waits for the first consumer.
func storage(name string, changes ...func(*cluster.StorageClass)) cluster.StorageClass {
	c := cluster.StorageClass{Name: name, Provisioner: ebs, WaitForConsumer: true}
	for _, f := range changes {
		f(&c)
	}
	return c
}

func immediate(c *cluster.StorageClass) { c.WaitForConsumer = false }
func standard(c *cluster.StorageClass)  { c.Default = true }

// onlyIn is allowedTopologies, one term for each list of values.
func onlyIn(key string, terms ...[]string) func(*cluster.StorageClass) {
	return func(c *cluster.StorageClass) {
		for _, vs := range terms {
			c.AllowedTopologies = append(c.AllowedTopologies, corev1.TopologySelectorTerm{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: key, Values: vs}}})
		}
	}
}
