package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// rules says which rules of topology leave the pod no new node. Those that tie it
// to pods which are elsewhere or nowhere are told whatever else is in the way.
func (r *reasoner) rules(open bool) []string {
	var out []string
	for _, x := range r.c.hard {
		g, total := r.s.groups[x.g], r.s.tallies[x.g].total
		switch {
		case g.kind != affinity || !x.own:
		case total == 0 && !x.match:
			out = append(out, r.ruleName(g, true)+": "+r.nowhere(x.g))
		case total > 0 && g.host():
			out = append(out, fmt.Sprintf("%s: there are %d, on nodes that have no place for it", r.ruleName(g, true), total))
		}
	}
	if open {
		for _, key := range r.s.keysOf(r.c) {
			out = append(out, r.domains(key)...)
		}
	}
	return out
}

// nowhere tells why there is no pod for an affinity.
func (r *reasoner) nowhere(id int32) string {
	if g := r.s.groups[id]; len(g.namespaces) == 0 && !g.allNS {
		return "no namespace matches its namespaceSelector"
	}
	waiting := 0
	for _, c := range r.s.classes {
		if slices.ContainsFunc(c.hard, func(x ref) bool { return x.g == id && x.match }) {
			waiting += len(c.pods)
		}
	}
	if waiting > 0 {
		return fmt.Sprintf("none runs, and the %d that wait find no place themselves", waiting)
	}
	return "there is none"
}

// domains says which rules of a key close which of the domains that can be had.
func (r *reasoner) domains(key string) []string {
	var names, left, out []string
	for _, ch := range r.s.domainChoices(key, &part{c: r.c, sig: r.c.shape.sig}) {
		names = append(names, ch.name)
		if r.s.domainAdmits(key, r.c, ch.name) {
			left = append(left, ch.name)
		}
	}
	for _, x := range r.c.hard {
		g, t := r.s.groups[x.g], &r.s.tallies[x.g]
		if g.key != key || g.kind == affinity && t.total == 0 {
			continue
		}
		shut := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return t.admits(g, x, t.domain(name)) })
		if len(shut) > 0 {
			out = append(out, r.ruleName(g, x.own)+": "+r.ruleWhy(x, shut, left))
		}
	}
	return out
}

// ruleWhy explains how a rule closes domains, and why those that are left do not help.
func (r *reasoner) ruleWhy(x ref, shut, left []string) string {
	g, t := r.s.groups[x.g], &r.s.tallies[x.g]
	switch g.kind {
	case spread:
		// The emptiest domain holds all the others back.
		counted := slices.DeleteFunc(t.ordered(), func(d int32) bool { return !t.counted[d] })
		if len(counted) == 0 || len(counted) < int(g.minDomains) {
			return fmt.Sprintf("only %d of the domains that it needs can be had, so that each may take %d at most", len(counted), g.maxSkew)
		}
		low := slices.MinFunc(counted, func(a, b int32) int { return cmp.Compare(t.count[a], t.count[b]) })
		return fmt.Sprintf("%s, the emptiest domain (it has %d), can take no pod because %s", t.names[low], t.count[low], r.because(g.key, t.names[low]))
	case affinity:
		at := slices.DeleteFunc(t.ordered(), func(d int32) bool { return t.count[d] == 0 })
		return fmt.Sprintf("%d of them are in %s, where it can go nowhere because %s", t.count[at[0]], t.names[at[0]], r.because(g.key, t.names[at[0]]))
	}
	text := map[bool]string{true: "there are some in ", false: "it keeps this one out of "}[x.own]
	for i, name := range shut {
		if n := t.count[t.domain(name)]; x.own && n > 0 {
			shut[i] = fmt.Sprintf("%s (%d)", name, n)
		}
	}
	if text += list(shut); len(left) > 0 {
		return text + fmt.Sprintf("; %s is free of them, but %s", left[0], r.because(g.key, left[0]))
	}
	return text + ", and no other domain can be had"
}

// because says why no pool opens a node for the pod in a domain.
func (r *reasoner) because(key, name string) string {
	pinned := r.s.sigs[r.s.pinned(r.c.shape.sig, key, oneOf(name))].terms
	best := miss{text: "no NodePool that suits may open nodes there"}
	for _, p := range r.s.pools {
		switch m := r.pool(p, pinned); {
		case m.at <= best.at || m.at < byRoom:
		case m.at == byNothing:
			best = miss{m.at, "its other rules leave no node there"}
		case m.text != "":
			best = miss{m.at, fmt.Sprintf("NodePool %q: %s", p.spec.Name, m.text)}
		}
	}
	return best.text
}

// ruleName writes a rule as people do: what it is, over which key, to which pods.
// own tells whether the pod itself declares it.
func (r *reasoner) ruleName(g *group, own bool) string {
	others := map[bool]string{false: " of other pods"}[own]
	if g.kind == spread {
		text := fmt.Sprintf("spread%s over %s (maxSkew %d", others, g.key, g.maxSkew)
		if g.minDomains > 0 {
			text += fmt.Sprintf(", minDomains %d", g.minDomains)
		}
		return text + ")"
	}
	var sel strings.Builder
	writeSelector(&sel, g.sel)
	which := cmp.Or(strings.ReplaceAll(strings.TrimSuffix(sel.String(), ";"), ";", ", "), "any labels")
	text := fmt.Sprintf("required %s%s over %s to pods with %s", kindNames[g.kind], others, g.key, which)
	switch {
	case g.allNS:
		return text + " in any namespace"
	case len(g.namespaces) > 0 && !slices.Equal(g.namespaces, []string{r.c.shape.rep.Namespace}):
		return text + " in namespace " + list(g.namespaces)
	}
	return text
}

var kindNames = [...]string{spread: "spread", affinity: "affinity", anti: "anti-affinity", port: "host ports"}

// standing sums up why no node that stands takes the pod, frequent causes first.
func (r *reasoner) standing() []string {
	if len(r.s.standing) == 0 {
		return nil
	}
	causes := map[string]int{}
	suits := make([]string, r.s.kinds)
	for _, n := range r.s.standing {
		causes[r.onNode(n, suits)]++
	}
	order := sortedKeys(causes)
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(causes[b], causes[a]) })
	for i, why := range order {
		order[i] = fmt.Sprintf("%d %s", causes[why], why)
	}
	return []string{fmt.Sprintf("standing nodes (%d): %s", len(r.s.standing), strings.Join(order, ", "))}
}

// onNode finds what keeps the pod off a node. suits remembers taints and labels, by kind.
func (r *reasoner) onNode(n *standingNode, suits []string) string {
	if n.closed {
		if slices.ContainsFunc(n.taints, func(t corev1.Taint) bool { return t.Key == corev1.TaintNodeUnschedulable }) {
			return "cordoned"
		}
		return "closed (cordoned, going away or not ready)"
	}
	const fine = "fine"
	if suits[n.kind] == "" || r.s.byName(r.sig.id) {
		suits[n.kind] = fine
		if hard, _ := r.sig.untolerated(n.taints); hard != nil {
			suits[n.kind] = "tainted (" + hard.ToString() + ")"
		} else if !r.sig.labelsAllow(n.name, n.labels) {
			suits[n.kind] = "outside of its node selector, affinity or volumes"
		}
	}
	if suits[n.kind] != fine {
		return suits[n.kind]
	}
	for d := 0; d < r.s.nd; d++ {
		if r.c.req[d] > max(0, n.free[d]) {
			return r.short[d]
		}
	}
	for i := range r.host {
		if r.s.hostCap(n.host, r.host[i:i+1]) < 1 {
			g := r.s.groups[r.host[i].g]
			if g.kind == port {
				return fmt.Sprintf("with host port %d/%s taken", g.hostPort.Port, g.hostPort.Protocol)
			}
			return "ruled out by " + kindNames[g.kind] + " over " + g.key
		}
	}
	for _, x := range r.c.hard {
		g, t := r.s.groups[x.g], &r.s.tallies[x.g]
		name, ok := n.labels[g.key]
		if !g.host() && (ok && !t.admits(g, x, t.domain(name)) || !ok && x.own && g.kind != anti) {
			return "ruled out by " + kindNames[g.kind] + " over " + g.key
		}
	}
	return "ruled out by several rules together"
}
