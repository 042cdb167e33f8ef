package scheduling

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// values is a set of label values, and whether the label may be absent: what
// one or several requirements on a key leave possible. It is a list (neg
// false), or everything but a list (neg true) within the integer bounds
// [lo, hi], where number says that there are any: values that are no integers are
// outside of every bound.
type values struct {
	neg    bool
	list   []string // ordered
	number bool
	lo, hi int64 // inclusive
	absent bool
}

func anyValue() values {
	return values{neg: true, lo: math.MinInt64, hi: math.MaxInt64, absent: true}
}

func oneOf(vs ...string) values {
	l := slices.Clone(vs)
	slices.Sort(l)
	return values{list: slices.Compact(l), lo: math.MinInt64, hi: math.MaxInt64}
}

// valuesOf turns a requirement into a set. A bound that is no integer allows
// nothing; validation has refused it before.
func valuesOf(op cluster.Operator, vs []string) values {
	v := anyValue()
	switch op {
	case cluster.In:
		return oneOf(vs...)
	case cluster.NotIn:
		v.list = oneOf(vs...).list
		return v
	case cluster.Exists:
		v.absent = false
		return v
	case cluster.DoesNotExist:
		return values{absent: true, lo: math.MinInt64, hi: math.MaxInt64}
	}
	v.absent = false
	if len(vs) != 1 {
		return values{}
	}
	n, err := strconv.ParseInt(vs[0], 10, 64)
	if err != nil {
		return values{}
	}
	v.number = true
	switch op {
	case cluster.Gt:
		if n == math.MaxInt64 {
			return values{}
		}
		v.lo = n + 1
	case cluster.Gte:
		v.lo = n
	case cluster.Lt:
		if n == math.MinInt64 {
			return values{}
		}
		v.hi = n - 1
	case cluster.Lte:
		v.hi = n
	default:
		return values{}
	}
	return v
}

func (v values) inBounds(s string) bool {
	if !v.number {
		return true
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return err == nil && n >= v.lo && n <= v.hi
}

// has tells whether the set allows a value.
func (v values) has(s string) bool {
	_, found := slices.BinarySearch(v.list, s)
	if v.neg {
		return !found && v.inBounds(s)
	}
	return found
}

// allows tells whether a label that is present with value s, or absent, fits.
func (v values) allows(s string, present bool) bool {
	if !present {
		return v.absent
	}
	return v.has(s)
}

// and is the intersection.
func (v values) and(o values) values {
	out := values{absent: v.absent && o.absent, number: v.number || o.number, lo: max(v.lo, o.lo), hi: min(v.hi, o.hi)}
	switch {
	case v.neg && o.neg:
		out.neg = true
		out.list = union(v.list, o.list)
		return out
	case !v.neg:
		for _, s := range v.list {
			if o.has(s) && out.inBounds(s) {
				out.list = append(out.list, s)
			}
		}
	default:
		for _, s := range o.list {
			if v.has(s) && out.inBounds(s) {
				out.list = append(out.list, s)
			}
		}
	}
	out.number, out.lo, out.hi = false, math.MinInt64, math.MaxInt64
	return out
}

// empty tells whether nothing is left, not even absence.
func (v values) empty() bool { return !v.absent && !v.some() }

// some tells whether a value is left.
func (v values) some() bool {
	if !v.neg {
		return len(v.list) > 0
	}
	if !v.number {
		return true
	}
	if v.lo > v.hi {
		return false
	}
	if width := uint64(v.hi) - uint64(v.lo); width < uint64(len(v.list)) {
		for n := v.lo; ; n++ {
			if v.has(strconv.FormatInt(n, 10)) {
				return true
			}
			if n == v.hi {
				return false
			}
		}
	}
	return true
}

// pick names one allowed value, the least that can be named.
func (v values) pick() (string, bool) {
	if !v.neg {
		if len(v.list) == 0 {
			return "", false
		}
		return v.list[0], true
	}
	if !v.some() {
		return "", false
	}
	if v.number {
		n := v.lo
		if spare := int64(len(v.list)); n == math.MinInt64 && v.hi >= math.MinInt64+spare {
			n = v.hi - spare
		}
		for ; ; n++ {
			if s := strconv.FormatInt(n, 10); v.has(s) {
				return s, true
			}
			if n == v.hi {
				break
			}
		}
		return "", false
	}
	for i := 0; ; i++ {
		s := "any"
		if i > 0 {
			s += "-" + strconv.Itoa(i)
		}
		if v.has(s) {
			return s, true
		}
	}
}

func (v values) equal(o values) bool {
	return v.neg == o.neg && v.absent == o.absent && v.number == o.number && v.lo == o.lo && v.hi == o.hi && slices.Equal(v.list, o.list)
}

// key writes the set as a canonical string.
func (v values) key() string {
	var b strings.Builder
	if v.neg {
		b.WriteByte('!')
	}
	if v.absent {
		b.WriteByte('?')
	}
	if v.number {
		b.WriteString(strconv.FormatInt(v.lo, 10))
		b.WriteByte(':')
		b.WriteString(strconv.FormatInt(v.hi, 10))
		b.WriteByte(':')
	}
	for _, x := range v.list {
		b.WriteString(strconv.Quote(x))
	}
	return b.String()
}

// requirements writes the set back as requirements on a key.
func (v values) requirements(key string) []cluster.Requirement {
	if !v.neg {
		if len(v.list) == 0 {
			return []cluster.Requirement{{Key: key, Operator: cluster.DoesNotExist}}
		}
		return []cluster.Requirement{{Key: key, Operator: cluster.In, Values: v.list}}
	}
	var out []cluster.Requirement
	if v.number {
		if v.lo != math.MinInt64 || v.hi == math.MaxInt64 {
			out = append(out, cluster.Requirement{Key: key, Operator: cluster.Gte, Values: []string{strconv.FormatInt(v.lo, 10)}})
		}
		if v.hi != math.MaxInt64 {
			out = append(out, cluster.Requirement{Key: key, Operator: cluster.Lte, Values: []string{strconv.FormatInt(v.hi, 10)}})
		}
	} else if !v.absent {
		out = append(out, cluster.Requirement{Key: key, Operator: cluster.Exists})
	}
	if len(v.list) > 0 {
		out = append(out, cluster.Requirement{Key: key, Operator: cluster.NotIn, Values: v.list})
	}
	return out
}

func union(a, b []string) []string {
	if len(a) == 0 {
		return b
	}
	if len(b) == 0 {
		return a
	}
	out := append(slices.Clone(a), b...)
	slices.Sort(out)
	return slices.Compact(out)
}
