package scheduling

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// worldOfValues is what a label can be in the properties below: names, numbers
// and the ends of what a number can be.
var worldOfValues = []string{"", "a", "b", "zone-1", "any", "any-1", "-1", "0", "1", "2", "3", "4", "10", "1.5", "0x10",
	strconv.FormatInt(math.MinInt64, 10), strconv.FormatInt(math.MinInt64+1, 10), strconv.FormatInt(math.MaxInt64-1, 10), strconv.FormatInt(math.MaxInt64, 10)}

var numbersOfValues = []string{"-1", "0", "1", "2", "3", "4", "10",
	strconv.FormatInt(math.MinInt64, 10), strconv.FormatInt(math.MinInt64+1, 10), strconv.FormatInt(math.MaxInt64-1, 10), strconv.FormatInt(math.MaxInt64, 10)}

// demand is an operator with its values, as a user writes it.
type demand struct {
	op     cluster.Operator
	values []string
}

func drawDemand(t *rapid.T) demand {
	op := rapid.SampledFrom([]cluster.Operator{cluster.In, cluster.NotIn, cluster.Exists, cluster.DoesNotExist, cluster.Gt, cluster.Gte, cluster.Lt, cluster.Lte}).Draw(t, "operator")
	switch op {
	case cluster.In, cluster.NotIn:
		return demand{op, rapid.SliceOfN(rapid.SampledFrom(worldOfValues), 1, 5).Draw(t, "values")}
	case cluster.Exists, cluster.DoesNotExist:
		return demand{op: op}
	}
	return demand{op, []string{rapid.SampledFrom(numbersOfValues).Draw(t, "bound")}}
}

// naive is the rule of the Kubernetes API for one demand, with Gte and Lte as
// the NodePool API has them.
func (d demand) naive(value string, present bool) bool {
	switch d.op {
	case cluster.In:
		return present && slices.Contains(d.values, value)
	case cluster.NotIn:
		return !present || !slices.Contains(d.values, value)
	case cluster.Exists:
		return present
	case cluster.DoesNotExist:
		return !present
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if !present || err != nil {
		return false
	}
	bound, _ := strconv.ParseInt(d.values[0], 10, 64)
	switch d.op {
	case cluster.Gt:
		return n > bound
	case cluster.Gte:
		return n >= bound
	case cluster.Lt:
		return n < bound
	}
	return n <= bound
}

func naiveAll(ds []demand, value string, present bool) bool {
	return !slices.ContainsFunc(ds, func(d demand) bool { return !d.naive(value, present) })
}

func meet(ds []demand) values {
	v := anyValue()
	for _, d := range ds {
		v = v.and(valuesOf(d.op, d.values))
	}
	return v
}

func drawDemands(t *rapid.T, label string) []demand {
	n := rapid.IntRange(0, 5).Draw(t, label)
	out := make([]demand, n)
	for i := range out {
		out[i] = drawDemand(t)
	}
	return out
}

// TestValuesAreWhatTheDemandsAllow: the intersection of sets allows a value when
// every demand does.
func TestValuesAreWhatTheDemandsAllow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := drawDemands(t, "demands")
		v := meet(ds)
		for _, s := range worldOfValues {
			if got, want := v.allows(s, true), naiveAll(ds, s, true); got != want {
				t.Fatalf("%v allow %q: %v, want %v", ds, s, got, want)
			}
		}
		if got, want := v.allows("", false), naiveAll(ds, "", false); got != want {
			t.Fatalf("%v allow absence: %v, want %v", ds, got, want)
		}
	})
}

// TestValuesKnowWhetherAnythingIsLeft: a set in which a value can be found is not
// empty, and picks one that it allows.
func TestValuesKnowWhetherAnythingIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := drawDemands(t, "demands")
		v := meet(ds)
		found := slices.ContainsFunc(worldOfValues, func(s string) bool { return naiveAll(ds, s, true) })
		if found && !v.some() {
			t.Fatalf("%v allow something, and the set says that nothing is left", ds)
		}
		if v.empty() != (!v.some() && !v.absent) {
			t.Fatalf("%v: empty is %v, some %v, absence allowed %v", ds, v.empty(), v.some(), v.absent)
		}
		s, ok := v.pick()
		if ok != v.some() {
			t.Fatalf("%v: picked %q (%v), though something is left: %v", ds, s, ok, v.some())
		}
		if ok && !naiveAll(ds, s, true) {
			t.Fatalf("%v: picked %q, which they do not allow", ds, s)
		}
	})
}

// TestValuesOrderDoesNotMatter: intersecting in another order gives the same set,
// by the same key.
func TestValuesOrderDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := drawDemands(t, "demands")
		back := slices.Clone(ds)
		slices.Reverse(back)
		a, b := meet(ds), meet(back)
		if !a.equal(b) || a.key() != b.key() {
			t.Fatalf("%v: %q one way, %q the other", ds, a.key(), b.key())
		}
		if twice := a.and(a); !twice.equal(a) {
			t.Fatalf("%v: %q and itself is %q", ds, a.key(), twice.key())
		}
	})
}

// TestValuesOfOneKeyAreOneSet: signatures are told apart by their keys.
func TestValuesOfOneKeyAreOneSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := meet(drawDemands(t, "one")), meet(drawDemands(t, "other"))
		if a.key() != b.key() {
			return
		}
		for _, s := range worldOfValues {
			if a.has(s) != b.has(s) {
				t.Fatalf("%q is the key of two sets: one has %q", a.key(), s)
			}
		}
		if a.absent != b.absent {
			t.Fatalf("%q is the key of a set that allows absence and of one that does not", a.key())
		}
	})
}

// TestValuesAsRequirements: what is written into a claim is read back as the set.
func TestValuesAsRequirements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ds := drawDemands(t, "demands")
		v := meet(ds)
		if v.empty() || !v.some() && v.neg {
			return
		}
		var back []demand
		for _, r := range v.requirements("key") {
			if r.Key != "key" {
				t.Fatalf("a requirement on %q", r.Key)
			}
			back = append(back, demand{r.Operator, r.Values})
		}
		for _, s := range worldOfValues {
			if got, want := naiveAll(back, s, true), v.has(s); got != want {
				t.Fatalf("%v written as %v: %q is allowed %v, want %v", ds, back, s, got, want)
			}
		}
		if got := naiveAll(back, "", false); got != v.absent {
			t.Fatalf("%v written as %v: absence is allowed %v, want %v", ds, back, got, v.absent)
		}
	})
}

// TestValuesOf is about what validation refuses and the set must survive.
func TestValuesOf(t *testing.T) {
	for _, c := range []struct {
		name   string
		op     cluster.Operator
		values []string
	}{
		{"a bound that is no number", cluster.Gt, []string{"x"}},
		{"no bound", cluster.Gte, nil},
		{"two bounds", cluster.Lt, []string{"1", "2"}},
		{"a bound beyond any number", cluster.Lte, []string{"99999999999999999999"}},
		{"above the largest number", cluster.Gt, []string{strconv.FormatInt(math.MaxInt64, 10)}},
		{"below the least number", cluster.Lt, []string{strconv.FormatInt(math.MinInt64, 10)}},
		{"an operator that is none", "Like", []string{"x"}},
		{"In nothing", cluster.In, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if v := valuesOf(c.op, c.values); !v.empty() {
				t.Errorf("%s %v allows %q", c.op, c.values, v.key())
			}
		})
	}
}
