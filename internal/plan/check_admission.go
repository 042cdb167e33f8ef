package plan

import (
	"math"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// checkAdmission asks of each pod what kube-scheduler's filters would ask of it
// on its node, volumes and topology apart.
func (c *checker) checkAdmission() {
	c.readDims()
	for _, s := range c.sites {
		if len(s.pods) == 0 {
			continue
		}
		for _, p := range s.pods {
			c.checkNodeAffinity(s, p, c.selectorOf(p), RuleNodeAffinity, "its node selector or required node affinity does not match")
			if t := untolerated(s.taints, p.Tolerations); t != nil {
				c.faults.say(RuleTaints, s.name, p.Key(), "does not tolerate %s=%s:%s", t.Key, t.Value, t.Effect)
			}
			for i := range p.Devices {
				if cluster.DeviceResource(p.Devices[i].Class) == "" {
					c.faults.say(RuleResources, s.name, p.Key(), "asks for devices of class %s, which no node is known to have", p.Devices[i].Class)
				}
			}
		}
		c.checkResources(s)
		c.checkHostPorts(s)
	}
}

// checkNodeAffinity holds a selector against a node, and a new one as each offer.
func (c *checker) checkNodeAffinity(s *site, p *cluster.Pod, id int32, rule Rule, what string) {
	switch {
	case id == everywhere:
	case s.plan == nil:
		if !c.selectors[id].matches(s) {
			c.faults.say(rule, s.name, p.Key(), "%s", what)
		}
	case s.choice != nil && c.fitsChoice(s.choice, id) != fitAll:
		c.faults.say(rule, s.name, p.Key(), "%s as %s", what, s.choice.t.describe(c.misfit(s.choice, id)))
	}
}

// dims numbers the resources that the placed pods ask for; the first is the
// number of pods.
type dims struct {
	names []string
	index map[string]int
}

func newDims() dims {
	return dims{[]string{cluster.Pods, cluster.CPU, cluster.Memory}, map[string]int{cluster.Pods: 0, cluster.CPU: 1, cluster.Memory: 2}}
}

// of is the number of a resource, -1 when no placed pod asks for it.
func (d *dims) of(name string) int {
	switch name {
	case cluster.CPU:
		return 1
	case cluster.Memory:
		return 2
	}
	if i, ok := d.index[name]; ok {
		return i
	}
	return -1
}

func (d *dims) add(name string) {
	if name != "" && d.of(name) < 0 {
		d.index[name] = len(d.names)
		d.names = append(d.names, name)
	}
}

func (c *checker) readDims() {
	for _, s := range c.sites {
		for _, p := range s.pods {
			for i := range p.Requests {
				c.dims.add(p.Requests[i].Name)
			}
			for i := range p.Devices {
				c.dims.add(cluster.DeviceResource(p.Devices[i].Class))
			}
		}
	}
}

// take adds what a pod asks for.
func (c *checker) take(sum []int64, p *cluster.Pod) {
	sum[0]++
	for i := range p.Requests {
		if k := c.dims.of(p.Requests[i].Name); k > 0 && p.Requests[i].Amount > 0 {
			sum[k] = plus(sum[k], p.Requests[i].Amount)
		}
	}
	for i := range p.Devices {
		if k := c.dims.of(cluster.DeviceResource(p.Devices[i].Class)); k > 0 && p.Devices[i].Count > 0 {
			sum[k] = plus(sum[k], p.Devices[i].Count)
		}
	}
}

// plus adds amounts that are not negative and stays at the largest number there
// is rather than turn over.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// checkResources adds up what the pods of a node ask for. Only what they ask for
// can keep them off.
func (c *checker) checkResources(s *site) {
	asked := make([]int64, len(c.dims.names))
	for _, p := range s.pods {
		c.take(asked, p)
	}
	if s.plan != nil {
		c.checkNewRoom(s, asked)
		return
	}
	beside := make([]int64, len(asked))
	for _, p := range s.bound {
		c.take(beside, p)
	}
	for _, d := range c.missingDaemons(s) {
		c.take(beside, &d.spec.Template)
	}
	for k, name := range c.dims.names {
		if room := s.room.Get(name); asked[k] > 0 && plus(asked[k], beside[k]) > room {
			c.overfull(s, name, asked[k], room-min(beside[k], room), "")
		}
	}
}

func (c *checker) overfull(s *site, resource string, asked, room int64, as string) {
	c.faults.say(RuleResources, s.name, "", "its pods ask for %s of %s, beside what else runs there it has %s%s",
		cluster.FormatAmount(resource, asked), resource, cluster.FormatAmount(resource, room), as)
}

// checkNewRoom holds what a new node's pods ask for against the tightest of its
// offers, and against what the report says of them.
func (c *checker) checkNewRoom(s *site, asked []int64) {
	if s.choice == nil {
		return
	}
	s.choice.measure(c)
	for k, name := range c.dims.names {
		if room := s.choice.room[k]; asked[k] > 0 && asked[k] > room {
			c.overfull(s, name, asked[k], max(0, room), " as "+s.choice.t.describe(s.choice.tightAt[k]))
		}
	}
	n := s.plan
	daemons := make([]int64, len(asked))
	if o := s.choice.pick(n); o >= 0 {
		for i, d := range c.daemons {
			if c.daemonRuns(s.choice.t, i, o) {
				c.take(daemons, &d.spec.Template)
			}
		}
	}
	for k, name := range c.dims.names[1:] {
		said := n.Daemons.Get(name)
		if said < daemons[k+1] {
			c.faults.say(RuleSums, n.Name, "", "the report says %s of %s for daemons, they ask for %s", cluster.FormatAmount(name, said), name, cluster.FormatAmount(name, daemons[k+1]))
		}
		if all := n.Requests.Get(name); all != plus(asked[k+1], said) {
			c.faults.say(RuleSums, n.Name, "", "the report says requests of %s of %s, pods and daemons add up to %s", cluster.FormatAmount(name, all), name, cluster.FormatAmount(name, plus(asked[k+1], said)))
		}
	}
}

// measure finds how much room each resource has at least, whichever offer it is.
func (ch *choice) measure(c *checker) {
	if ch.room != nil {
		return
	}
	v := ch.t.pool
	ch.room, ch.tightAt = make([]int64, len(c.dims.names)), make([]int32, len(c.dims.names))
	for k := range ch.room {
		ch.room[k] = math.MaxInt64
	}
	always, sometimes := c.daemonsOf(ch)
	beside := make([]int64, len(ch.room))
	for _, i := range always {
		c.take(beside, &c.daemons[i].spec.Template)
	}
	sum := make([]int64, len(ch.room))
	last := int32(-1)
	for _, o := range ch.offers {
		typ := v.offers[o].typ
		if typ == last && len(sometimes) == 0 {
			continue // the same room as the offer before
		}
		last = typ
		copy(sum, beside)
		for _, i := range sometimes {
			if c.daemonRuns(ch.t, i, o) {
				c.take(sum, &c.daemons[i].spec.Template)
			}
		}
		for k, name := range c.dims.names {
			if room := v.types[typ].Allocatable.Get(name) - sum[k]; room < ch.room[k] {
				ch.room[k], ch.tightAt[k] = room, o
			}
		}
	}
}

// daemonRuns tells whether a daemon, by its place in the list, runs on a node
// launched as an offer.
func (c *checker) daemonRuns(t *template, i int, o int32) bool {
	return t.runs[i] && c.offerFits(t, c.daemons[i].selector, o)
}

// daemonsOf lists the daemons that run on each offer of a choice, and those that
// run on some.
func (c *checker) daemonsOf(ch *choice) (always, sometimes []int) {
	for i, d := range c.daemons {
		if !ch.t.runs[i] {
			continue
		}
		switch c.fitsChoice(ch, d.selector) {
		case fitAll:
			always = append(always, i)
		case fitSome:
			sometimes = append(sometimes, i)
		}
	}
	return always, sometimes
}

// missingDaemons lists the daemons that are to run on a node that stands or is in
// flight and do not run there yet.
func (c *checker) missingDaemons(s *site) []*daemon {
	var out []*daemon
	for _, d := range c.daemons {
		runs := false
		for _, p := range s.bound {
			runs = runs || p.Owner.Kind == "DaemonSet" && p.Owner.Name == d.spec.Name && p.Namespace == d.spec.Namespace
		}
		if !runs && daemonTolerates(s.taints, d.spec.Template.Tolerations) && c.selectors[d.selector].matches(s) {
			out = append(out, d)
		}
	}
	return out
}
