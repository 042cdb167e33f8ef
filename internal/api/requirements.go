package api

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

var operators = []string{
	string(cluster.In), string(cluster.NotIn), string(cluster.Exists), string(cluster.DoesNotExist),
	string(cluster.Gt), string(cluster.Lt), string(cluster.Gte), string(cluster.Lte),
}

// maxRequirements is how many requirements an object may have.
const maxRequirements = 100

// checkRequirements applies the rules for node requirements and converts them,
// keys normalised.
func checkRequirements(list []Requirement, path string, use keyUse, r *reporter) []cluster.Requirement {
	if list == nil {
		r.missing(path, "write requirements: [] where every instance type will do")
		return nil
	}
	r.atMost(path, len(list), maxRequirements)
	before := r.count()
	out := make([]cluster.Requirement, 0, len(list))
	for i := range list {
		out = append(out, checkRequirement(&list[i], index(path, i), use, r))
	}
	if r.count() == before {
		checkSense(out, path, r)
	}
	return out
}

// checkRequirement applies the rules for one requirement and converts it.
func checkRequirement(q *Requirement, path string, use keyUse, r *reporter) cluster.Requirement {
	if q.Key == nil {
		r.missing(field(path, "key"), "name the label, such as kubernetes.io/arch")
	} else if checkKey(*q.Key, field(path, "key"), r) {
		checkUse(*q.Key, field(path, "key"), use, r)
	}
	if q.Operator == nil {
		r.missing(field(path, "operator"), "write "+orList(operators))
	} else if r.oneOf(field(path, "operator"), *q.Operator, operators...) {
		checkValues(q, path, use, r)
	}
	for i, v := range q.Values {
		checkValue(v, index(field(path, "values"), i), r)
	}
	checkMinValues(q, path, r)
	checkKnownValues(q, path, r)
	out := cluster.Requirement{
		Key:      cluster.NormalLabel(text(q.Key)),
		Operator: cluster.Operator(text(q.Operator)),
		Values:   q.Values,
	}
	if q.MinValues != nil {
		out.MinValues = int(*q.MinValues)
	}
	return out
}

// knownValues are the values of the labels that have few.
var knownValues = map[string][]string{
	cluster.LabelCapacityType: {cluster.OnDemand, cluster.Reserved, cluster.Spot},
	cluster.LabelArch:         {"amd64", "arm64"},
	cluster.LabelOS:           {"linux", "windows"},
}

// checkKnownValues looks for values that no node has.
func checkKnownValues(q *Requirement, path string, r *reporter) {
	known, ok := knownValues[cluster.NormalLabel(text(q.Key))]
	if !ok || text(q.Operator) != string(cluster.In) && text(q.Operator) != string(cluster.NotIn) {
		return
	}
	for i, v := range q.Values {
		if !slices.Contains(known, v) {
			r.warn(index(field(path, "values"), i), "no node has "+*q.Key+": "+strconv.Quote(shorten(v))+"; "+suggest(v, known))
		}
	}
}

// checkValues wants as many values as the operator takes.
func checkValues(q *Requirement, path string, use keyUse, r *reporter) {
	at := field(path, "values")
	switch op := cluster.Operator(*q.Operator); op {
	case cluster.In:
		if len(q.Values) == 0 {
			r.missing(at, "the operator In needs one value or more")
		}
	case cluster.NotIn:
		if len(q.Values) == 0 && use == inOverlay {
			r.missing(at, "the operator NotIn needs one value or more")
		}
	case cluster.Exists, cluster.DoesNotExist:
		if len(q.Values) > 0 {
			r.warn(at, "the operator "+string(op)+" takes no values; those given have no effect")
		}
	default:
		if len(q.Values) != 1 {
			r.addf(at, "has %d values; the operator %s needs exactly one, a whole number in quotes", len(q.Values), op)
			return
		}
		if n, err := strconv.ParseInt(q.Values[0], 10, 64); err != nil || n < 0 {
			r.add(index(at, 0), strconv.Quote(shorten(q.Values[0]))+" is not allowed; the operator "+string(op)+" compares with a whole number of 0 or more")
		}
	}
}

// checkMinValues wants a number that the values can reach.
func checkMinValues(q *Requirement, path string, r *reporter) {
	if q.MinValues == nil {
		return
	}
	at := field(path, "minValues")
	if r.within(at, *q.MinValues, 1, 50) && text(q.Operator) == string(cluster.In) && int64(len(q.Values)) < *q.MinValues {
		r.addf(at, "asks for %d different values of the %d that are listed; list more values or ask for fewer", *q.MinValues, len(q.Values))
	}
}

// checkSense looks for requirements of one key that no value meets. A range that
// is upside down is a mistake; the rest is merely useless.
func checkSense(list []cluster.Requirement, path string, r *reporter) {
	byKey := map[string][]int{}
	for i := range list {
		byKey[list[i].Key] = append(byKey[list[i].Key], i)
	}
	for _, k := range sortedKeys(byKey) {
		at := byKey[k]
		left := everything()
		for _, i := range at {
			left.add(&list[i])
		}
		last := index(path, at[len(at)-1])
		switch {
		case left.upsideDown():
			r.addf(last, "no number is %s; turn the range round", strings.Join(left.compared, " and "))
		case left.empty():
			r.warn(last, "no value of "+k+" meets all the requirements that are made on it, so no node can be made")
		}
	}
}

// remainder is what requirements leave of the values of one label.
type remainder struct {
	low, high int64    // whole numbers, both ends in it
	compared  []string // the comparisons, for people

	listed   bool // only is given
	only     []string
	not      []string
	absent   bool // the label must be absent
	demanded bool // the label must be there
}

const noEnd = int64(1)<<62 - 1

// everything is what no requirement leaves.
func everything() *remainder { return &remainder{low: -noEnd, high: noEnd} }

// add takes away what a requirement excludes.
func (m *remainder) add(q *cluster.Requirement) {
	switch q.Operator {
	case cluster.In:
		if m.listed {
			in := membership(q.Values)
			m.only = slices.DeleteFunc(slices.Clone(m.only), func(v string) bool { return !in(v) })
		} else {
			m.only, m.listed = q.Values, true
		}
		m.demanded = true
	case cluster.NotIn:
		m.not = append(m.not, q.Values...)
	case cluster.DoesNotExist:
		m.absent = true
	case cluster.Exists:
		m.demanded = true
	default:
		m.demanded = true
		m.compare(q)
	}
}

// compare narrows the range. The values have been checked.
func (m *remainder) compare(q *cluster.Requirement) {
	if len(q.Values) != 1 {
		return
	}
	n, err := strconv.ParseInt(q.Values[0], 10, 64)
	if err != nil {
		return
	}
	n = min(n, noEnd-1)
	switch q.Operator {
	case cluster.Gt:
		m.low = max(m.low, n+1)
	case cluster.Gte:
		m.low = max(m.low, n)
	case cluster.Lt:
		m.high = min(m.high, n-1)
	case cluster.Lte:
		m.high = min(m.high, n)
	}
	m.compared = append(m.compared, string(q.Operator)+" "+q.Values[0])
}

// upsideDown tells whether the comparisons exclude each other. A range below 0
// is empty too: the labels that are compared count something.
func (m *remainder) upsideDown() bool { return max(m.low, 0) > m.high }

// empty tells whether no value is left, nor the absence of the label.
func (m *remainder) empty() bool {
	switch {
	case m.absent:
		return m.demanded
	case m.upsideDown():
		return true
	case !m.listed:
		return false
	}
	excluded := membership(m.not)
	return !slices.ContainsFunc(m.only, func(v string) bool { return !excluded(v) && m.inRange(v) })
}

// inRange tells whether the comparisons allow a value.
func (m *remainder) inRange(v string) bool {
	if len(m.compared) == 0 {
		return true
	}
	n, err := strconv.ParseInt(v, 10, 64)
	return err == nil && m.low <= n && n <= m.high
}

// membership tells which words are in a list, in the same time however long the
// list is.
func membership(list []string) func(string) bool {
	if len(list) < 16 {
		return func(v string) bool { return slices.Contains(list, v) }
	}
	set := make(map[string]bool, len(list))
	for _, v := range list {
		set[v] = true
	}
	return func(v string) bool { return set[v] }
}
