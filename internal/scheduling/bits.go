package scheduling

import "math/bits"

// bitset is a fixed-size set of small integers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) set(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b bitset) has(i int) bool { return b[i>>6]&(1<<(i&63)) != 0 }

// setRange adds [from, to).
func (b bitset) setRange(from, to int) {
	for i := from; i < to; i++ {
		b.set(i)
	}
}

func (b bitset) empty() bool {
	for _, w := range b {
		if w != 0 {
			return false
		}
	}
	return true
}

func (b bitset) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

func (b bitset) clone() bitset { return append(bitset(nil), b...) }

func (b bitset) and(o bitset) bitset {
	out := make(bitset, len(b))
	for i := range b {
		out[i] = b[i] & o[i]
	}
	return out
}

// intersects tells whether the sets share a member.
func (b bitset) intersects(o bitset) bool {
	for i := range b {
		if b[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

func (b bitset) orWith(o bitset) {
	for i := range b {
		b[i] |= o[i]
	}
}

func (b bitset) andWith(o bitset) {
	for i := range b {
		b[i] &= o[i]
	}
}

// each calls f for every member in ascending order.
func (b bitset) each(f func(i int)) {
	for w, x := range b {
		for x != 0 {
			f(w<<6 + bits.TrailingZeros64(x))
			x &= x - 1
		}
	}
}

// hash mixes the words; equal sets have equal hashes.
func (b bitset) hash() uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, w := range b {
		h = (h ^ w) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	return h
}

func (b bitset) equal(o bitset) bool {
	if len(b) != len(o) {
		return false
	}
	for i := range b {
		if b[i] != o[i] {
			return false
		}
	}
	return true
}
