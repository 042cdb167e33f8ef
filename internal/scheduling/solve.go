package scheduling

import (
	"errors"
	"fmt"
	"sort"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// solver is the working state of one Solve.
type solver struct {
	p *Problem

	// dims are the resources in play: cpu, memory, pods, then by name; after
	// them one dimension for each volume driver in attach.
	dims        []string
	dimIndex    map[string]int
	attach      []string
	firstAttach int
	nd          int
	demand      vec
	rank        []int32 // place of a pod in the order of names

	pools    []*pool
	sigs     []*signature
	sigIndex map[string]int32
	fits     [][]*fit
	costs    map[costKey]map[string]float64

	groups        []*group
	groupIndex    map[string]int32
	byLabel       map[labelPair][]int32
	unindexed     []int32
	hardGroup     []bool
	standingOwned map[int32]bool
	standingOnly  []bool // spreads over nodes for which no node can be made
	tallies       []tally
	stood         []tally // counts of what stands alone
	byDomain      map[string]map[string][]*standingNode

	standing []*standingNode
	kinds    int
	allows   map[uint64]bool

	classes     []*class
	items       []*item
	hostClasses int

	states     []*state
	stateIndex map[stateKey][]int32
	next       map[uint64]int32

	strays []strayPods
	left   []Left

	podClass     []*class // class of each pod, made when first asked for
	stateDomain  map[stateValue]string
	shares       map[costKey]float64
	reservedUsed map[string]int64
	filters      map[stateFilter]filteredState
	exoticOpen   bool // a node of an exotic type is to be opened
	countedIn    map[countedKey][]string
	shareOf      map[sharesKey][]float64
	holds        map[poolNeed][2]bool
	uncounted    map[domainsKey]bitset
	counts       map[stateFilter]verdict
	cheap        map[choiceKey]int32 // cheapest column by state and load
	shared       map[string]bool     // unbound claims that several pods use
	exclusive    map[string]string   // claims for one pod at a time → the pod that has it
}

// strayPods are pods of a class that bulk packing could not place.
type strayPods struct {
	c    *class
	pods []int32
}

// ErrTooManyResources says that a problem is about more different resources than
// a plan can weigh at once.
var ErrTooManyResources = errors.New("too many different resources")

// Solve places the pods. It returns an error only where the problem is larger
// than it can be; a pod that cannot be placed is a Left of the result.
func Solve(p *Problem) (*Result, error) {
	s := &solver{p: p, sigIndex: map[string]int32{}, costs: map[costKey]map[string]float64{}, groupIndex: map[string]int32{},
		byLabel: map[labelPair][]int32{}, allows: map[uint64]bool{}, stateIndex: map[stateKey][]int32{}, next: map[uint64]int32{},
		stateDomain: map[stateValue]string{}, shares: map[costKey]float64{}, reservedUsed: map[string]int64{}, filters: map[stateFilter]filteredState{}, countedIn: map[countedKey][]string{}, byDomain: map[string]map[string][]*standingNode{}, shareOf: map[sharesKey][]float64{}, holds: map[poolNeed][2]bool{}, uncounted: map[domainsKey]bitset{},
		counts: map[stateFilter]verdict{}, cheap: map[choiceKey]int32{}}
	if err := s.chooseDims(); err != nil {
		return nil, err
	}
	s.compilePools()
	s.readStanding()
	s.markShared()
	order := podOrder(p.Pods)
	s.rank = make([]int32, len(p.Pods))
	for i, pi := range order {
		s.rank[pi] = int32(i)
	}
	s.classify(order)
	for _, c := range s.classes {
		s.demand.addTimes(&c.req, int64(len(c.pods)), s.nd)
	}
	s.countStanding()
	s.honourPreferences()
	s.makeItems(s.planDomains())
	s.fillStanding()
	nodes := s.packItems()
	return s.finish(nodes), nil
}

// chooseDims lists the resources that pods and daemons ask for.
func (s *solver) chooseDims() error {
	seen := map[string]bool{}
	drivers := map[string]bool{}
	note := func(p *cluster.Pod) {
		for i := range p.Requests {
			if p.Requests[i].Amount > 0 {
				seen[p.Requests[i].Name] = true
			}
		}
		for i := range p.Devices {
			if r := cluster.DeviceResource(p.Devices[i].Class); r != "" {
				seen[r] = true
			}
		}
		if len(p.Volumes) > 0 {
			for d := range s.volumesOf(p).attach {
				drivers[d] = true
			}
		}
	}
	for _, p := range s.p.Pods {
		note(p)
	}
	for i := range s.p.Pools {
		for _, d := range s.p.Pools[i].Daemons {
			note(&d.Template)
		}
	}
	s.dims = []string{cluster.CPU, cluster.Memory, cluster.Pods}
	delete(seen, cluster.CPU)
	delete(seen, cluster.Memory)
	delete(seen, cluster.Pods)
	s.dims = append(s.dims, sortedKeys(seen)...)
	s.firstAttach = len(s.dims)
	s.attach = sortedKeys(drivers)
	s.nd = len(s.dims) + len(s.attach)
	if s.nd > maxDims {
		return fmt.Errorf("%w: the pods ask for %d (%v %v), and a plan can weigh %d at once: plan fewer kinds of pods at a time", ErrTooManyResources, s.nd, s.dims, s.attach, maxDims)
	}
	s.dimIndex = map[string]int{}
	for d, name := range s.dims {
		s.dimIndex[name] = d
	}
	return nil
}

// compilePools reads the pools, the heaviest first, then by name. Pools whose
// types are the same list share a universe.
func (s *solver) compilePools() {
	order := make([]int, len(s.p.Pools))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool {
		x, y := s.p.Pools[order[a]].Spec, s.p.Pools[order[b]].Spec
		if x.Weight != y.Weight {
			return x.Weight > y.Weight
		}
		return x.Name < y.Name
	})
	shared := map[*cluster.InstanceType]*universe{}
	for _, i := range order {
		p := &s.p.Pools[i]
		var u *universe
		if len(p.Types) > 0 {
			u = shared[&p.Types[0]]
		}
		if u == nil {
			u = newUniverse(p.Types)
			if len(p.Types) > 0 {
				shared[&p.Types[0]] = u
			}
		}
		pl := s.compilePool(len(s.pools), p, u)
		pl.source = i
		s.pools = append(s.pools, pl)
	}
}

func (s *solver) leave(pod int32, reasons ...string) {
	s.left = append(s.left, Left{Pod: int(pod), Reasons: reasons})
}

func (s *solver) stray(c *class, pods []int32) {
	if len(pods) > 0 {
		s.strays = append(s.strays, strayPods{c, pods})
	}
}
