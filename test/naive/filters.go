package naive

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// refusals says why a node does not admit a pod, leaving the topology rules
// aside. The pod may already be among the node's pods.
func (c *checker) refusals(p *cluster.Pod, n *node) []string {
	var out []string
	if !selects(p, n.labels) {
		out = append(out, "node selector or required node affinity does not match")
	}
	for _, t := range n.taints {
		if t.Effect != corev1.TaintEffectPreferNoSchedule && !tolerates(p.Tolerations, t) {
			out = append(out, "does not tolerate "+t.Key+"="+t.Value+":"+string(t.Effect))
		}
	}
	out = append(out, overfull(p, n)...)
	out = append(out, portClashes(p, n)...)
	return append(out, c.volumeRefusals(p, n)...)
}

// overfull says which resources that the pod asks for the node lacks.
func overfull(p *cluster.Pod, n *node) []string {
	var out []string
	for _, r := range p.Requests {
		if r.Amount <= 0 || r.Name == cluster.Pods {
			continue
		}
		used := r.Amount
		for _, q := range n.pods {
			if q != p {
				used += max(0, q.Requests.Get(r.Name))
			}
		}
		if used > n.alloc[r.Name] {
			out = append(out, "insufficient "+r.Name+": "+strconv.FormatInt(used, 10)+" of "+strconv.FormatInt(n.alloc[r.Name], 10))
		}
	}
	count := int64(1)
	for _, q := range n.pods {
		if q != p {
			count++
		}
	}
	if count > n.alloc[cluster.Pods] {
		out = append(out, "too many pods: "+strconv.FormatInt(count, 10)+" of "+strconv.FormatInt(n.alloc[cluster.Pods], 10))
	}
	return out
}

// portClashes says which host ports of the pod others on the node occupy.
func portClashes(p *cluster.Pod, n *node) []string {
	var out []string
	for _, a := range p.HostPorts {
		for _, q := range n.pods {
			if q == p {
				continue
			}
			for _, b := range q.HostPorts {
				if a.Port == b.Port && protocol(a) == protocol(b) && (everywhere(a.IP) || everywhere(b.IP) || a.IP == b.IP) {
					out = append(out, "host port "+strconv.Itoa(int(a.Port))+" is taken by "+q.Key())
				}
			}
		}
	}
	return out
}

func protocol(p cluster.HostPort) corev1.Protocol {
	if p.Protocol == "" {
		return corev1.ProtocolTCP
	}
	return p.Protocol
}

func everywhere(ip string) bool { return ip == "" || ip == "0.0.0.0" || ip == "::" }

// selects applies a pod's node selector and required node affinity to a node's
// labels.
func selects(p *cluster.Pod, labels map[string]string) bool {
	for k, v := range p.NodeSelector {
		if got, ok := label(labels, k); !ok || got != v {
			return false
		}
	}
	if p.Affinity == nil || p.Affinity.NodeAffinity == nil {
		return true
	}
	return nodeSelectorMatches(p.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution, labels)
}

// nodeSelectorMatches ORs the terms and ANDs the expressions of a term. A term
// with nothing in it matches no node, and neither does one with fields.
func nodeSelectorMatches(s *corev1.NodeSelector, labels map[string]string) bool {
	if s == nil {
		return true
	}
	return slices.ContainsFunc(s.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		if len(t.MatchExpressions) == 0 || len(t.MatchFields) > 0 {
			return false
		}
		return !slices.ContainsFunc(t.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool {
			return !holds(labels, e.Key, string(e.Operator), e.Values)
		})
	})
}

// holds applies one requirement to labels. Gt and Lt are the scheduler's, Gte
// and Lte NodePools have besides.
func holds(labels map[string]string, key, op string, values []string) bool {
	got, ok := label(labels, key)
	switch op {
	case "In":
		return ok && slices.Contains(values, got)
	case "NotIn":
		return !ok || !slices.Contains(values, got)
	case "Exists":
		return ok
	case "DoesNotExist":
		return !ok
	case "Gt", "Lt", "Gte", "Lte":
		if !ok || len(values) != 1 {
			return false
		}
		a, err1 := strconv.ParseInt(got, 10, 64)
		b, err2 := strconv.ParseInt(values[0], 10, 64)
		if err1 != nil || err2 != nil {
			return false
		}
		return op == "Gt" && a > b || op == "Lt" && a < b || op == "Gte" && a >= b || op == "Lte" && a <= b
	}
	return false
}

// label reads a label by its old or its current name.
func label(labels map[string]string, key string) (string, bool) {
	if v, ok := labels[key]; ok {
		return v, true
	}
	v, ok := labels[cluster.NormalLabel(key)]
	return v, ok
}

// tolerates tells whether one of the tolerations is for the taint.
func tolerates(ts []corev1.Toleration, taint corev1.Taint) bool {
	return slices.ContainsFunc(ts, func(t corev1.Toleration) bool {
		if t.Effect != "" && t.Effect != taint.Effect {
			return false
		}
		if t.Key == "" {
			return t.Operator == corev1.TolerationOpExists
		}
		if t.Key != taint.Key {
			return false
		}
		switch t.Operator {
		case corev1.TolerationOpExists:
			return true
		case "", corev1.TolerationOpEqual:
			return t.Value == taint.Value
		}
		return false
	})
}
