package scheduling

// state is what is still open about a node that is being loaded: the columns
// that all its pods allow and the values left for the pool's own labels. States
// are interned: nodes with the same signatures share one.
type state struct {
	pool *pool
	cols bitset
	free []values // nil: what the pool leaves
}

// baseState is a pool's empty node.
func (s *solver) baseState(p *pool) int32 {
	return s.internState(&state{pool: p, cols: p.base})
}

func (s *solver) internState(st *state) int32 {
	k := stateKey{st.pool.index, st.cols.hash(), freeKey(st.free)}
	for _, id := range s.stateIndex[k] {
		if s.states[id].cols.equal(st.cols) {
			return id
		}
	}
	id := int32(len(s.states))
	s.states = append(s.states, st)
	s.stateIndex[k] = append(s.stateIndex[k], id)
	return id
}

type stateKey struct {
	pool int
	cols uint64
	free string
}

// advance is the state after a pod of a signature joins; -1 when it cannot.
func (s *solver) advance(st, sig int32) int32 {
	k := uint64(st)<<32 | uint64(sig)
	if id, ok := s.next[k]; ok {
		return id
	}
	id := s.computeAdvance(s.states[st], sig)
	s.next[k] = id
	return id
}

func (s *solver) computeAdvance(st *state, sig int32) int32 {
	f := s.fitOf(sig, st.pool)
	if !f.ok {
		return -1
	}
	n := &state{pool: st.pool, cols: st.cols.and(f.cols), free: st.free}
	if n.cols.empty() {
		return -1
	}
	if f.free != nil {
		if st.free == nil {
			n.free = f.free
		} else {
			n.free = make([]values, len(f.free))
			for i := range f.free {
				if n.free[i] = st.free[i].and(f.free[i]); n.free[i].empty() {
					return -1
				}
			}
		}
	}
	return s.internState(n)
}
