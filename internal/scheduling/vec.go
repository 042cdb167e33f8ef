package scheduling

import (
	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// maxDims bounds how many different resources one problem may be about.
const maxDims = 16

// vec is an amount of each resource in play, in the order of solver.dims.
type vec [maxDims]int64

// The first dimensions are always the same.
const (
	dimCPU = iota
	dimMemory
	dimPods
)

func (v *vec) add(o *vec, nd int) {
	for d := 0; d < nd; d++ {
		v[d] += o[d]
	}
}

func (v *vec) sub(o *vec, nd int) {
	for d := 0; d < nd; d++ {
		v[d] -= o[d]
	}
}

func (v *vec) addTimes(o *vec, n int64, nd int) {
	for d := 0; d < nd; d++ {
		v[d] += o[d] * n
	}
}

// within tells whether v fits into o. A resource that is not asked for does not
// matter, be the room negative.
func (v *vec) within(o *vec, nd int) bool {
	for d := 0; d < nd; d++ {
		if v[d] > o[d] && v[d] > 0 {
			return false
		}
	}
	return true
}

// times is how many v fit into o.
func (v *vec) times(o *vec, nd int) int64 {
	n := int64(1 << 40)
	for d := 0; d < nd; d++ {
		if v[d] > 0 {
			if o[d] < v[d] {
				return 0
			}
			n = min(n, o[d]/v[d])
		}
	}
	return n
}

// vectorOf reads resources into the dimensions in play; a pod counts as one
// of "pods".
func (s *solver) vectorOf(r cluster.Resources) vec {
	var v vec
	for i := range r {
		if d, ok := s.dimIndex[r[i].Name]; ok {
			v[d] = r[i].Amount
		}
	}
	v[dimPods] = 1
	return v
}

func (s *solver) resourcesOf(v *vec) cluster.Resources {
	m := map[string]int64{}
	for d, name := range s.dims {
		if v[d] != 0 {
			m[name] = v[d]
		}
	}
	return cluster.ResourcesOf(m)
}
