package scheduling

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func drawVec(t *rapid.T, label string, low, high int64, nd int) vec {
	var v vec
	for d := range nd {
		v[d] = rapid.Int64Range(low, high).Draw(t, label)
	}
	return v
}

// TestVecTimes: as many fit as can be taken one by one.
func TestVecTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nd := rapid.IntRange(1, maxDims).Draw(t, "dimensions")
		v, room := drawVec(t, "request", 0, 5, nd), drawVec(t, "room", -3, 40, nd)
		got := v.times(&room, nd)
		if v == (vec{}) {
			if got < 1<<40 {
				t.Fatalf("nothing fits %d times", got)
			}
			return
		}
		want := int64(0)
		for left := room; v.within(&left, nd); want++ {
			left.sub(&v, nd)
		}
		if got != want {
			t.Fatalf("%v fits into %v %d times, one by one %d", v[:nd], room[:nd], got, want)
		}
	})
}

// TestVecWithin: every amount that is asked for is there; what is not asked for
// does not matter.
func TestVecWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nd := rapid.IntRange(1, maxDims).Draw(t, "dimensions")
		v, room := drawVec(t, "request", 0, 3, nd), drawVec(t, "room", -2, 3, nd)
		want := true
		for d := range nd {
			want = want && (v[d] == 0 || v[d] <= room[d])
		}
		if got := v.within(&room, nd); got != want {
			t.Fatalf("%v within %v: %v, want %v", v[:nd], room[:nd], got, want)
		}
	})
}

func TestVecArithmetic(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nd := rapid.IntRange(1, maxDims).Draw(t, "dimensions")
		a, b := drawVec(t, "one", -100, 100, nd), drawVec(t, "other", -100, 100, nd)
		n := rapid.Int64Range(0, 9).Draw(t, "times")
		byAdding, byTimes := a, a
		for range n {
			byAdding.add(&b, nd)
		}
		byTimes.addTimes(&b, n, nd)
		if byAdding != byTimes {
			t.Fatalf("%d times %v added to %v is %v, one by one %v", n, b, a, byTimes, byAdding)
		}
		byTimes.subTimes(&b, n, nd)
		for range n {
			byAdding.sub(&b, nd)
		}
		if byTimes != a || byAdding != a {
			t.Fatalf("what was added to %v and taken off again leaves %v and %v", a, byTimes, byAdding)
		}
	})
}

// TestBitset holds the bit set against a list of its members.
func TestBitset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "size")
		draw := func(label string) (bitset, []int) {
			members := rapid.SliceOfDistinct(rapid.IntRange(0, n-1), func(i int) int { return i }).Draw(t, label)
			slices.Sort(members)
			b := newBitset(n)
			for _, i := range members {
				b.set(i)
			}
			return b, members
		}
		a, as := draw("one")
		b, bs := draw("other")
		both := slices.DeleteFunc(slices.Clone(as), func(i int) bool { return !slices.Contains(bs, i) })
		either := slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(as), bs...))))

		sameMembers(t, "the set", a, as)
		sameMembers(t, "and", a.and(b), both)
		c := a.clone()
		c.andWith(b)
		sameMembers(t, "andWith", c, both)
		c = a.clone()
		c.orWith(b)
		sameMembers(t, "orWith", c, either)
		sameMembers(t, "what was cloned", a, as)
		if got, want := a.intersects(b), len(both) > 0; got != want {
			t.Fatalf("%v intersects %v: %v", as, bs, got)
		}
		if got, want := a.equal(b), slices.Equal(as, bs); got != want {
			t.Fatalf("%v equals %v: %v", as, bs, got)
		}
		if a.equal(b) && a.hash() != b.hash() {
			t.Fatalf("%v has two hashes", as)
		}
		if a.equal(newBitset(n + 64)) {
			t.Fatal("sets of different sizes are equal")
		}
	})
}

func sameMembers(t *rapid.T, what string, b bitset, want []int) {
	t.Helper()
	var got []int
	b.each(func(i int) { got = append(got, i) })
	if diff := cmp.Diff(want, got, cmp.Transformer("nil", func(x []int) []int { return append([]int{}, x...) })); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
	if b.count() != len(want) || b.empty() != (len(want) == 0) {
		t.Fatalf("%s: %d members, empty %v, want %v", what, b.count(), b.empty(), want)
	}
	for _, i := range want {
		if !b.has(i) {
			t.Fatalf("%s does not have %d", what, i)
		}
	}
}

func TestBitsetRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "size")
		from := rapid.IntRange(0, n).Draw(t, "from")
		to := rapid.IntRange(from, n).Draw(t, "to")
		b := newBitset(n)
		b.setRange(from, to)
		for i := range n {
			if got, want := b.has(i), i >= from && i < to; got != want {
				t.Fatalf("[%d, %d) has %d: %v", from, to, i, got)
			}
		}
	})
}
