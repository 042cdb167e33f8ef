package api

import "hash/maphash"

// interner keeps one copy of the short strings that repeat all over manifests:
// keys, names, images, quantities. It is a cache of fixed size, so that input
// of any length costs it nothing.
type interner struct {
	seed  maphash.Seed
	slots []string
}

const (
	internSlots  = 1 << 12
	internLength = 64 // longer strings hardly repeat
)

// text returns the string of some bytes.
func (in *interner) text(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	if len(b) > internLength {
		return string(b)
	}
	if in.slots == nil {
		in.seed = maphash.MakeSeed()
		in.slots = make([]string, internSlots)
	}
	slot := &in.slots[maphash.Bytes(in.seed, b)%internSlots]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}
