package naive

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
)

// MostPods is how many pods Optimum takes: the partitions of a set of seven are
// 877, those of ten are 115,975.
const MostPods = 7

// Best is the cheapest way to place all pods.
type Best struct {
	PricePerHour float64
	Nodes        []string // the new nodes, in words
}

// Optimum tries every way to put the waiting pods of a small snapshot onto
// standing nodes and new ones, and returns the cheapest in which each pod is
// admitted where it is and all can be bound one after the other; false when not all of them can be placed, or when there
// are more than MostPods. Limits, minValues, reservations, preferences and custom
// labels left to choose are not looked at: give it snapshots without.
func Optimum(snap *cluster.Snapshot, types Types) (Best, bool) {
	c := newChecker(snap, types, &plan.Report{})
	s := &search{checker: c, best: math.Inf(1), offers: map[string][]offer{}}
	for _, k := range sortedPods(c) {
		p := c.pods[k]
		s.pods = append(s.pods, p)
	}
	if len(s.pods) > MostPods {
		return Best{}, false
	}
	s.standing = slices.DeleteFunc(slices.Clone(c.world.nodes), func(n *node) bool { return n.closed })
	s.assign(0)
	return Best{s.best, s.words}, !math.IsInf(s.best, 1)
}

func sortedPods(c *checker) []string {
	keys := map[string]bool{}
	for k, p := range c.pods {
		if c.waits(p) && len(p.Problems) == 0 {
			keys[k] = true
		}
	}
	return sortedKeys(keys)
}

// search is one run of Optimum.
type search struct {
	*checker
	pods     []*cluster.Pod
	standing []*node
	blocks   [][]*cluster.Pod
	offers   map[string][]offer // by the pods of a block
	best     float64
	words    []string
}

// offer is one way to make a new node for a block of pods.
type offer struct {
	node  *node
	price float64
	words string
}

// assign puts pod i on each standing node, into each block, and into a block of
// its own, and goes on with the next.
func (s *search) assign(i int) {
	if i == len(s.pods) {
		s.choose(0, 0, nil)
		return
	}
	p := s.pods[i]
	for _, n := range s.standing {
		n.pods = append(n.pods, p)
		if len(s.refusals(p, n)) == 0 {
			s.assign(i + 1)
		}
		n.pods = n.pods[:len(n.pods)-1]
	}
	for b := range s.blocks {
		s.blocks[b] = append(s.blocks[b], p)
		if len(s.offersFor(s.blocks[b])) > 0 {
			s.assign(i + 1)
		}
		s.blocks[b] = s.blocks[b][:len(s.blocks[b])-1]
	}
	s.blocks = append(s.blocks, []*cluster.Pod{p})
	if len(s.offersFor(s.blocks[len(s.blocks)-1])) > 0 {
		s.assign(i + 1)
	}
	s.blocks = s.blocks[:len(s.blocks)-1]
}

// choose makes block b a node in each way that is still worth it.
func (s *search) choose(b int, price float64, made []offer) {
	if price >= s.best-1e-12 {
		return
	}
	if b == len(s.blocks) {
		if s.admitted(made) {
			s.best, s.words = price, nil
			for _, o := range made {
				s.words = append(s.words, o.words)
			}
		}
		return
	}
	for _, o := range s.offersFor(s.blocks[b]) {
		s.choose(b+1, price+o.price, append(slices.Clone(made), o))
	}
}

// admitted asks the topology rules of each pod where it is.
func (s *search) admitted(made []offer) bool {
	standing := s.world
	w := &world{nodes: slices.Clone(standing.nodes)}
	for i, o := range made {
		n := *o.node
		n.name = fmt.Sprintf("new-%d", i)
		n.labels = cloned(n.labels, cluster.LabelHostname, n.name)
		w.nodes = append(w.nodes, &n)
	}
	s.world = w // claims for one pod at a time look at every node
	defer func() { s.world = standing }()
	waiting := map[*cluster.Pod]bool{}
	for _, p := range s.pods {
		waiting[p] = true
	}
	for _, n := range w.nodes {
		for _, p := range n.pods {
			if waiting[p] && !s.admits(w, p, n, s.domainsFor(p)) {
				return false
			}
		}
	}
	order := map[string]*node{}
	for _, n := range w.nodes {
		for _, p := range n.pods {
			if waiting[p] {
				order[p.Key()] = n
			}
		}
	}
	return len(s.unbindable(order)) == 0
}

func cloned(m map[string]string, key, value string) map[string]string {
	out := map[string]string{key: value}
	for k, v := range m {
		if k != key {
			out[k] = v
		}
	}
	return out
}

// offersFor lists the ways to make a node for a block, cheapest first. Of those
// that the topology rules cannot tell apart only the cheapest is kept.
func (s *search) offersFor(block []*cluster.Pod) []offer {
	var id strings.Builder
	for _, p := range block {
		id.WriteString(p.Key() + " ")
	}
	if out, ok := s.offers[id.String()]; ok {
		return out
	}
	cheapest := map[string]offer{}
	keys := s.topologyKeys()
	for i := range s.snap.NodePools {
		pool := &s.snap.NodePools[i]
		s.fresh(block[0], pool, func(n *node, o option) bool {
			m := &node{name: "block", title: "block", labels: n.labels, taints: n.taints, alloc: n.alloc, limits: n.limits, pods: append(slices.Clone(block), n.pods...)}
			for _, p := range block {
				if len(s.refusals(p, m)) > 0 {
					return true
				}
			}
			values := pool.Name
			for _, k := range keys {
				if k != cluster.LabelHostname {
					values += "|" + m.labels[k]
				}
			}
			if old, ok := cheapest[values]; !ok || o.off.Price < old.price {
				cheapest[values] = offer{m, o.off.Price, o.String() + " " + id.String()}
			}
			return true
		})
	}
	var out []offer
	for _, o := range cheapest {
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b offer) int { return cmp.Or(cmp.Compare(a.price, b.price), cmp.Compare(a.words, b.words)) })
	s.offers[id.String()] = out
	return out
}
