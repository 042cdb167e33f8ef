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
func (c *podConversion) volumes(list []corev1.Volume, p *corePath) ([]cluster.Volume, []ephemeralVolume) {
	var out []cluster.Volume
	var ephemeral []ephemeralVolume
	for i := range list {
		v, at := &list[i], p.at(i)
		c.checkVolumeName(list[:i], v, &at)
		switch {
		case v.PersistentVolumeClaim != nil:
			at = at.field("persistentVolumeClaim")
			if v.PersistentVolumeClaim.ClaimName == "" {
				at := at.field("claimName")
				c.bad(&at, "names no PersistentVolumeClaim; write the name of one in the pod's namespace")
			}
			out = append(out, cluster.Volume{Claim: v.PersistentVolumeClaim.ClaimName})
		case v.Ephemeral != nil:
			ephemeral = append(ephemeral, ephemeralVolume{index: len(out), name: v.Name})
			out = append(out, c.ephemeralVolume(v, &at))
		case v.CSI != nil:
			if v.CSI.Driver == "" {
				at := at.field("csi")
				at = at.field("driver")
				c.bad(&at, "names no CSI driver")
			}
			out = append(out, cluster.Volume{Driver: v.CSI.Driver})
		case v.AWSElasticBlockStore != nil:
			out = append(out, cluster.Volume{Driver: ebsDriver})
		}
	}
	return out, ephemeral
}

// checkVolumeName refuses a volume without a name of its own.
func (c *podConversion) checkVolumeName(before []corev1.Volume, v *corev1.Volume, p *corePath) {
	at := p.field("name")
	if v.Name == "" {
		c.bad(&at, "a volume needs a name")
		return
	}
	for i := range before {
		if before[i].Name == v.Name {
			c.bad(&at, "%q is used twice; give each volume its own name", v.Name)
			return
		}
	}
}

// ephemeralVolume converts a generic ephemeral volume, whose claim the
// controller makes when the pod is there.
func (c *podConversion) ephemeralVolume(v *corev1.Volume, p *corePath) cluster.Volume {
	t := v.Ephemeral.VolumeClaimTemplate
	if t == nil {
		at := p.field("ephemeral")
		at = at.field("volumeClaimTemplate")
		c.bad(&at, "an ephemeral volume needs a volumeClaimTemplate")
		return cluster.Volume{Ephemeral: true}
	}
	return c.claimToCome(v.Name, t.Spec.StorageClassName)
}

// claimToCome is a volume whose claim will be made from a template.
func (c *podConversion) claimToCome(name string, class *string) cluster.Volume {
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
// order. In the host's network every container port is one.
func (c *podConversion) hostPorts(spec *corev1.PodSpec, p *corePath) []cluster.HostPort {
	var out []cluster.HostPort
	list := p.field("initContainers")
	for i := range spec.InitContainers {
		if isSidecar(&spec.InitContainers[i]) {
			at := list.at(i)
			out = c.containerPorts(out, &spec.InitContainers[i], spec.HostNetwork, &at)
		}
	}
	list = p.field("containers")
	for i := range spec.Containers {
		at := list.at(i)
		out = c.containerPorts(out, &spec.Containers[i], spec.HostNetwork, &at)
	}
	slices.SortFunc(out, func(a, b cluster.HostPort) int {
		return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(a.IP, b.IP))
	})
	return out
}

// containerPorts appends the host ports of one container.
func (c *podConversion) containerPorts(out []cluster.HostPort, k *corev1.Container, hostNetwork bool, p *corePath) []cluster.HostPort {
	list := p.field("ports")
	for i := range k.Ports {
		from, at := &k.Ports[i], list.at(i)
		c.checkPort(from, hostNetwork, &at)
		port := cluster.HostPort{IP: from.HostIP, Protocol: from.Protocol, Port: from.HostPort}
		if hostNetwork {
			port.Port = from.ContainerPort
		}
		if port.Port == 0 {
			continue
		}
		if port.Protocol == "" {
			port.Protocol = corev1.ProtocolTCP
		}
		if slices.Contains(out, port) {
			c.bad(&at, "the host port %d/%s is used twice in the pod", port.Port, port.Protocol)
			continue
		}
		out = append(out, port)
	}
	return out
}

// checkPort refuses ports that do not exist.
func (c *podConversion) checkPort(k *corev1.ContainerPort, hostNetwork bool, p *corePath) {
	if k.ContainerPort < 1 || k.ContainerPort > 65535 {
		at := p.field("containerPort")
		c.bad(&at, "%d is no port; use 1 to 65535", k.ContainerPort)
	}
	at := p.field("hostPort")
	switch {
	case k.HostPort < 0 || k.HostPort > 65535:
		c.bad(&at, "%d is no port; use 1 to 65535, or leave it out", k.HostPort)
	case hostNetwork && k.HostPort != 0 && k.HostPort != k.ContainerPort:
		c.bad(&at, "must be %d like the containerPort, because the pod is in the host's network", k.ContainerPort)
	}
	switch k.Protocol {
	case "", corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP:
	default:
		at := p.field("protocol")
		c.bad(&at, "%q is not allowed; use TCP, UDP or SCTP", k.Protocol)
	}
}
