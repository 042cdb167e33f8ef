package api

import (
	"bytes"
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// flatKinds are the members of a flat input: one JSON object without a kind that
// holds lists by what they are of. It is the form in which generated workloads
// and custom catalogues come. The value is what an element is that does not say
// so itself; the two without one have a form of their own.
var flatKinds = map[string]struct{ apiVersion, kind string }{
	"instanceTypes":  {},
	"nodes":          {},
	"pods":           {"v1", "Pod"},
	"nodePools":      {versionPool, "NodePool"},
	"daemonSets":     {"apps/v1", "DaemonSet"},
	"pdbs":           {"policy/v1", "PodDisruptionBudget"},
	"pvcs":           {"v1", "PersistentVolumeClaim"},
	"pvs":            {"v1", "PersistentVolume"},
	"storageClasses": {"storage.k8s.io/v1", "StorageClass"},
	"namespaces":     {"v1", "Namespace"},
}

// flatNode is a standing node of a flat input. Its allocatable is that of its
// type, which the catalogue knows.
type flatNode struct {
	Name         string            `json:"name"`
	InstanceType string            `json:"instanceType"`
	Zone         string            `json:"zone"`
	CapacityType string            `json:"capacityType"`
	NodePool     string            `json:"nodePool"`
	Labels       map[string]string `json:"labels"`
	Taints       []corev1.Taint    `json:"taints"`
	Annotations  map[string]string `json:"annotations"`
}

// flat takes a flat input apart.
func (l *loader) flat(o Object, raw []byte, e envelope, depth int) {
	l.rep.at(&o)
	seen := map[string]bool{}
	eachMember(raw, func(name string, value []byte) {
		_, known := flatKinds[name]
		switch {
		case !known:
			l.rep.add(key("", name), "unknown field; "+suggest(name, sortedKeys(flatKinds)))
		case seen[name]:
			l.rep.add(name, "stands here twice; keep one")
		case value[0] != '[' && value[0] != 'n':
			l.rep.add(name, "must be a list, not "+describe(value[0]))
		}
		seen[name] = true
	})
	for _, m := range e.flat {
		if m.raw[0] != '[' {
			continue
		}
		switch kind := flatKinds[m.name]; m.name {
		case "instanceTypes":
			l.rep.at(&o)
			l.instanceTypes(m.raw)
		case "nodes":
			l.flatNodes(o, m.raw)
		default:
			l.items(o, m.raw, kind.apiVersion, kind.kind, depth)
		}
	}
}

// instanceTypes keeps the catalogue of the input; there can be one.
func (l *loader) instanceTypes(raw []byte) {
	if old := l.result.InstanceTypes; old != nil && !bytes.Equal(old, raw) {
		l.rep.add("instanceTypes", "the input has a second list of instance types that differs from the first; keep one")
		return
	}
	l.result.InstanceTypes = raw
}

// flatNodes takes the nodes of a flat input. A Node of Kubernetes' own form may
// stand among them.
func (l *loader) flatNodes(o Object, raw []byte) {
	n := 0
	eachElement(raw, func(item []byte) bool {
		n++
		if e := readEnvelope(item); e.kind != "" {
			l.item(o, item, "", "", n, 0)
			return !l.enough()
		}
		at := o
		at.Item, at.APIVersion, at.Kind, at.Raw = n, "v1", "Node", item
		eachMember(item, func(name string, value []byte) {
			if name == "name" {
				at.Name = stringOf(value)
			}
		})
		l.rep.at(&at)
		l.flatNode(&at)
		return !l.enough()
	})
}

// flatNode adds one node.
func (l *loader) flatNode(o *Object) {
	var in flatNode
	if !decodeStrict(o.Raw, &in, l.rep) {
		return
	}
	if in.Name == "" {
		l.rep.add("name", "is missing")
		return
	}
	if !l.admit(o) {
		return
	}
	labels := map[string]string{}
	for k, v := range map[string]string{
		cluster.LabelHostname:     in.Name,
		cluster.LabelInstanceType: in.InstanceType,
		cluster.LabelZone:         in.Zone,
		cluster.LabelCapacityType: in.CapacityType,
		cluster.LabelNodePool:     in.NodePool,
	} {
		if v != "" {
			labels[k] = v
		}
	}
	if in.NodePool != "" {
		labels[cluster.LabelRegistered], labels[cluster.LabelInitialized] = "true", "true"
	}
	for k, v := range in.Labels {
		labels[k] = cmp.Or(v, labels[k])
	}
	l.result.Snapshot.Nodes = append(l.result.Snapshot.Nodes, cluster.Node{
		Name:        in.Name,
		Labels:      labels,
		Annotations: in.Annotations,
		Taints:      in.Taints,
		Ready:       true,
	})
}
