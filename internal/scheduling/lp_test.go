package scheduling

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawOffers makes types as a catalogue has them: prices and room over several
// orders of magnitude, some without a resource.
func drawOffers(t *rapid.T, nd int) []offer {
	out := make([]offer, rapid.IntRange(1, 12).Draw(t, "types"))
	for i := range out {
		room := new(vec)
		for d := range nd {
			if rapid.IntRange(0, 5).Draw(t, "lacks") > 0 {
				room[d] = rapid.Int64Range(1, 1000).Draw(t, "room") * []int64{1, 1 << 20, 1}[d%3]
			}
		}
		out[i] = offer{rapid.Float64Range(0.01, 40).Draw(t, "price"), room}
	}
	return out
}

func drawDemandVec(t *rapid.T, nd int) *vec {
	var v vec
	for d := range nd {
		v[d] = rapid.Int64Range(0, 100000).Draw(t, "demand") * []int64{1, 1 << 20, 1}[d%3]
	}
	return &v
}

const lpTolerance = 1e-7

// feasible tells whether weights are not negative and no type is worth more than
// its price.
func feasible(w *weights, offers []offer, nd int) bool {
	for d := range nd {
		if w[d] < 0 || math.IsNaN(w[d]) || math.IsInf(w[d], 0) {
			return false
		}
	}
	for i := range offers {
		if w.of(offers[i].room, nd) > offers[i].price*(1+lpTolerance) {
			return false
		}
	}
	return true
}

func offered(offers []offer, d int) bool {
	for i := range offers {
		if offers[i].room[d] > 0 {
			return true
		}
	}
	return false
}

// TestCoverIsFeasible: weak duality holds of any demand and any types.
func TestCoverIsFeasible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nd := rapid.IntRange(1, 6).Draw(t, "dimensions")
		offers, demand := drawOffers(t, nd), drawDemandVec(t, nd)
		w, ok := cover(offers, demand, nd)
		if !feasible(&w, offers, nd) {
			t.Fatalf("weights %v are not feasible", w[:nd])
		}
		want := true
		for d := range nd {
			if demand[d] > 0 && !offered(offers, d) {
				want = false
				if w[d] != 0 {
					t.Fatalf("resource %d, which nothing offers, has the weight %g", d, w[d])
				}
			}
		}
		if ok != want {
			t.Fatalf("covered: %v, want %v", ok, want)
		}
	})
}

// TestCoverIsABound: no whole number of nodes that holds the demand costs less
// than what the demand is worth.
func TestCoverIsABound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nd := rapid.IntRange(1, 4).Draw(t, "dimensions")
		offers := drawOffers(t, nd)
		var held vec
		price := 0.0
		for i := range offers {
			n := rapid.Int64Range(0, 5).Draw(t, "nodes")
			held.addTimes(offers[i].room, n, nd)
			price += offers[i].price * float64(n)
		}
		demand := held
		for d := range nd {
			demand[d] = rapid.Int64Range(0, max(0, held[d])).Draw(t, "of what they hold")
		}
		w, _ := cover(offers, &demand, nd)
		if v := w.of(&demand, nd); v > price*(1+lpTolerance) {
			t.Fatalf("the bound is %g, and nodes for %g hold the demand", v, price)
		}
	})
}

// TestCoverIsTheOptimum compares two resources with all vertices of the dual: the
// best is where two of the conditions meet.
func TestCoverIsTheOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const nd = 2
		offers, demand := drawOffers(t, nd), drawDemandVec(t, nd)
		for d := range nd {
			if demand[d] > 0 && !offered(offers, d) {
				return
			}
		}
		w, _ := cover(offers, demand, nd)
		got, want := w.of(demand, nd), bestVertex(offers, demand)
		if math.Abs(got-want) > 1e-6*max(1e-9, want) {
			t.Fatalf("the value is %.12g, the best vertex has %.12g", got, want)
		}
	})
}

// bestVertex is the largest worth of the demand over the corners of the region
// w ≥ 0, w·room ≤ price.
func bestVertex(offers []offer, demand *vec) float64 {
	type line struct{ a, b, c float64 } // a·x + b·y = c
	lines := []line{{1, 0, 0}, {0, 1, 0}}
	for i := range offers {
		// In units of the demand, so that the numbers are of one size.
		lines = append(lines, line{scaled(offers[i].room[0], demand[0]), scaled(offers[i].room[1], demand[1]), offers[i].price})
	}
	best := 0.0
	for i, p := range lines {
		for _, q := range lines[:i] {
			det := p.a*q.b - q.a*p.b
			if math.Abs(det) < 1e-15 {
				continue
			}
			x, y := (p.c*q.b-q.c*p.b)/det, (p.a*q.c-q.a*p.c)/det
			if x < -1e-12 || y < -1e-12 {
				continue
			}
			inside := true
			for _, l := range lines[2:] {
				inside = inside && l.a*x+l.b*y <= l.c*(1+1e-9)
			}
			if inside {
				best = max(best, worthOf(x, demand[0])+worthOf(y, demand[1]))
			}
		}
	}
	return best
}

func scaled(room, demand int64) float64 {
	if demand == 0 {
		return float64(room)
	}
	return float64(room) / float64(demand)
}

func worthOf(w float64, demand int64) float64 {
	if demand == 0 {
		return 0
	}
	return w
}

// TestCover is a handful that can be worked out by hand.
func TestCover(t *testing.T) {
	small, large, thin := &vec{2, 8}, &vec{8, 32}, &vec{4, 4}
	for _, c := range []struct {
		name   string
		offers []offer
		demand vec
		want   float64
	}{
		{"one type, one resource short", []offer{{1, small}}, vec{10, 8}, 5},
		{"one type, the other resource short", []offer{{1, small}}, vec{2, 80}, 10},
		{"the cheaper for its size", []offer{{1, small}, {3, large}}, vec{8, 32}, 3},
		{"a mixture", []offer{{1, small}, {1, thin}}, vec{6, 12}, 2},
		{"nothing in demand", []offer{{1, small}}, vec{}, 0},
		{"no types", nil, vec{1, 1}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, _ := cover(c.offers, &c.demand, 2)
			if got := w.of(&c.demand, 2); math.Abs(got-c.want) > 1e-6 {
				t.Errorf("the bound is %g, want %g", got, c.want)
			}
		})
	}
}
