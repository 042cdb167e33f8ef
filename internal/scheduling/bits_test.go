package scheduling

import "testing"

// TestStatesOfManyColumns holds the sets that are made from others to their size:
// a bit set's length is in words.
func TestStatesOfManyColumns(t *testing.T) {
	u := newBitset(1000)
	u.setRange(0, 1000)
	s := &solver{stateIndex: map[stateKey][]int32{}}
	id := s.internState(&state{pool: &pool{}, cols: u})
	only := s.states[s.onlyColumn(id, 999)]
	if only.cols.count() != 1 || !only.cols.has(999) {
		t.Errorf("%d columns left, want the last alone", only.cols.count())
	}
}
