package api

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// ebsDriver attaches EBS volumes, also those that are written in the way of
// the driver that was once built into Kubernetes.
const ebsDriver = "ebs.csi.aws.com"

// volumes keeps the volumes that count for a node: claims, ephemeral volumes
// and what a CSI driver attaches.
func (c *conversion) volumes(list []corev1.Volume) ([]cluster.Volume, []ephemeralVolume) {
	var out []cluster.Volume
	var ephemeral []ephemeralVolume
	for i := range list {
		v := &list[i]
		back := c.at("volumes", i)
		c.checkVolumeName(list[:i], v.Name)
		switch {
		case v.PersistentVolumeClaim != nil:
			if v.PersistentVolumeClaim.ClaimName == "" {
				c.bad("persistentVolumeClaim.claimName", "names no PersistentVolumeClaim; write the name of one in the pod's namespace")
			}
			out = append(out, cluster.Volume{Claim: v.PersistentVolumeClaim.ClaimName})
		case v.Ephemeral != nil:
			ephemeral = append(ephemeral, ephemeralVolume{index: len(out), name: v.Name})
			out = append(out, c.ephemeralVolume(v))
		case v.CSI != nil:
			if v.CSI.Driver == "" {
				c.bad("csi.driver", "names no CSI driver")
			}
			out = append(out, cluster.Volume{Driver: v.CSI.Driver})
		case v.AWSElasticBlockStore != nil:
			out = append(out, cluster.Volume{Driver: ebsDriver})
		}
		c.back(back)
	}
	return out, ephemeral
}

// checkVolumeName refuses a volume without a name of its own.
func (c *conversion) checkVolumeName(before []corev1.Volume, name string) {
	if name == "" {
		c.bad("name", "a volume needs a name")
		return
	}
	if slices.ContainsFunc(before, func(v corev1.Volume) bool { return v.Name == name }) {
		c.bad("name", "%q is used twice; give each volume its own name", name)
	}
}

// ephemeralVolume converts a generic ephemeral volume, whose claim the
// controller makes when the pod is there.
func (c *conversion) ephemeralVolume(v *corev1.Volume) cluster.Volume {
	t := v.Ephemeral.VolumeClaimTemplate
	if t == nil {
		c.bad("ephemeral.volumeClaimTemplate", "is missing; an ephemeral volume needs one")
		return cluster.Volume{Ephemeral: true}
	}
	return c.claimToCome(v.Name, t.Spec.StorageClassName)
}

// claimToCome is a volume whose claim will be made from a template.
func (c *conversion) claimToCome(name string, class *string) cluster.Volume {
	v := cluster.Volume{Ephemeral: true}
	switch {
	case class == nil:
	case *class == "":
		c.problem("Its volume %q asks for storageClassName \"\", for which no volume is ever made; name a StorageClass or leave the field out for the default one.", name)
	default:
		v.StorageClass = *class
	}
	return v
}

// hostPorts lists the ports of the host that a pod occupies while it runs, in
// order. In the host's network every container port is one. Containers may not
// claim the same port; a sidecar may claim one of theirs, which counts once.
func (c *conversion) hostPorts(spec *corev1.PodSpec) []cluster.HostPort {
	var ports, sidecar []cluster.HostPort
	for i := range spec.Containers {
		back := c.at("containers", i)
		ports = c.containerPorts(ports, spec.Containers[i].Ports, spec.HostNetwork)
		c.back(back)
	}
	for i := range spec.InitContainers {
		if isSidecar(&spec.InitContainers[i]) {
			back := c.at("initContainers", i)
			sidecar = c.containerPorts(sidecar[:0], spec.InitContainers[i].Ports, spec.HostNetwork)
			ports = append(ports, sidecar...)
			c.back(back)
		}
	}
	slices.SortFunc(ports, func(a, b cluster.HostPort) int {
		return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.IP, b.IP))
	})
	return slices.Compact(ports)
}

// containerPorts appends the host ports of one container.
func (c *conversion) containerPorts(out []cluster.HostPort, ports []corev1.ContainerPort, hostNetwork bool) []cluster.HostPort {
	for i := range ports {
		from := &ports[i]
		back := c.at("ports", i)
		c.checkPort(from, hostNetwork)
		port := cluster.HostPort{IP: from.HostIP, Protocol: from.Protocol, Port: from.HostPort}
		if hostNetwork {
			port.Port = from.ContainerPort
		}
		if port.Protocol == "" {
			port.Protocol = corev1.ProtocolTCP
		}
		switch {
		case port.Port == 0:
		case slices.Contains(out, port):
			c.bad("hostPort", "%d/%s is used twice in the pod; only one container can have it", port.Port, port.Protocol)
		default:
			out = append(out, port)
		}
		c.back(back)
	}
	return out
}

// checkPort refuses ports that do not exist.
func (c *conversion) checkPort(k *corev1.ContainerPort, hostNetwork bool) {
	if k.ContainerPort < 1 || k.ContainerPort > 65535 {
		c.bad("containerPort", "%d is no port; use 1 to 65535", k.ContainerPort)
	}
	switch {
	case k.HostPort < 0 || k.HostPort > 65535:
		c.bad("hostPort", "%d is no port; use 1 to 65535, or leave it out", k.HostPort)
	case hostNetwork && k.HostPort != 0 && k.HostPort != k.ContainerPort:
		c.bad("hostPort", "must be %d like the containerPort, because the pod is in the host's network", k.ContainerPort)
	}
	switch k.Protocol {
	case "", corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP:
	default:
		c.bad("protocol", "%q is not allowed; use TCP, UDP or SCTP", k.Protocol)
	}
}
