package api

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// The rules that several schemas share. Each reports what breaks it, with what
// is allowed.

// missing reports a required field that is not there; mend says what to write.
func (r *reporter) missing(path, mend string) {
	r.add(path, "is missing; "+mend)
}

// oneOf wants one of some words.
func (r *reporter) oneOf(path, value string, allowed ...string) bool {
	if slices.Contains(allowed, value) {
		return true
	}
	message := strconv.Quote(shorten(value)) + " is not allowed; it must be " + orList(allowed)
	if near := nearest(value, allowed); near != "" {
		message += `; did you mean "` + near + `"?`
	}
	r.add(path, message)
	return false
}

// orList writes words as "a, b or c".
func orList(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// within wants a number in a range.
func (r *reporter) within(path string, n, low, high int64) bool {
	if n >= low && n <= high {
		return true
	}
	r.addf(path, "%d is out of range; it must be from %d to %d", n, low, high)
	return false
}

// notNegative wants a number of 0 or more; nil is fine.
func notNegative[N int32 | int64](r *reporter, path string, n *N) {
	if n != nil && *n < 0 {
		r.addf(path, "%d is negative; it must be 0 or more", *n)
	}
}

// atMost wants a list or map of limited length.
func (r *reporter) atMost(path string, n, most int) {
	if n > most {
		r.addf(path, "has %d entries; at most %d are allowed", n, most)
	}
}

// text is what a pointer points at, "" when it is nil.
func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// checkMeta applies the rules that the API server has for the metadata of every
// object without a namespace.
func checkMeta(m *metav1.ObjectMeta, r *reporter) {
	if m.Name == "" {
		r.missing("metadata.name", "give the object a name")
	} else if wrong := validation.IsDNS1123Subdomain(m.Name); len(wrong) > 0 {
		r.add("metadata.name", strconv.Quote(shorten(m.Name))+" is not a name; write lower-case letters, digits, - and ., at most 253, with a letter or digit at both ends")
	}
	checkLabels(m.Labels, "metadata.labels", r)
	for _, k := range sortedKeys(m.Annotations) {
		checkKey(strings.ToLower(k), key("metadata.annotations", k), r)
	}
}

// checkLabels applies the syntax of Kubernetes to labels.
func checkLabels(labels map[string]string, path string, r *reporter) {
	for _, k := range sortedKeys(labels) {
		if checkKey(k, key(path, k), r) {
			checkValue(labels[k], key(path, k), r)
		}
	}
}

// checkKey wants the syntax of a label's key.
func checkKey(k, path string, r *reporter) bool {
	if len(validation.IsQualifiedName(k)) == 0 {
		return true
	}
	r.add(path, strconv.Quote(shorten(k))+" is not a label key; write a name of at most 63 letters, digits, -, _ and ., with a letter or digit at both ends, and before it perhaps a domain in lower case and a /")
	return false
}

// checkValue wants the syntax of a label's value.
func checkValue(v, path string, r *reporter) {
	if len(validation.IsValidLabelValue(v)) > 0 {
		r.add(path, strconv.Quote(shorten(v))+" is not a label value; write at most 63 letters, digits, -, _ and ., with a letter or digit at both ends")
	}
}

var (
	durationPattern = regexp.MustCompile(`^([0-9]+(s|m|h))+$`)
	dayPattern      = regexp.MustCompile(`^([0-9]{1,6})([dw])$`)
)

// never is the word for a duration that does not end.
const never = "Never"

// parseDuration reads a duration made of hours, minutes and seconds, or Never
// where that is allowed. problem says what is wrong with it, with a mend.
func parseDuration(s string, allowNever bool) (d cluster.Duration, problem string) {
	if s == never && allowNever {
		return cluster.Duration{Never: true}, ""
	}
	if durationPattern.MatchString(s) {
		t, err := time.ParseDuration(s)
		if err != nil {
			problem = strconv.Quote(shorten(s)) + " is longer than can be counted; the most is 2562047h"
			if allowNever {
				problem += "; write Never where it has no end"
			}
		}
		return cluster.Duration{Duration: t}, problem
	}
	problem = strconv.Quote(shorten(s)) + " is not a duration; write hours, minutes and seconds, such as 720h or 1h30m"
	if allowNever {
		problem += ", or Never"
	}
	return d, problem + mendDuration(s, allowNever)
}

// mendDuration says what was probably meant, "" where it cannot.
func mendDuration(s string, allowNever bool) string {
	if found := dayPattern.FindStringSubmatch(s); found != nil {
		n, _ := strconv.Atoi(found[1])
		hours := map[string]int{"d": 24, "w": 7 * 24}[found[2]]
		return fmt.Sprintf(`; did you mean "%dh"?`, n*hours)
	}
	if strings.EqualFold(s, never) {
		if allowNever {
			return `; did you mean "Never"?`
		}
		return "; leave the field out where there is no end"
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 && d%time.Second == 0 {
		return `; did you mean "` + writeDuration(d) + `"?`
	}
	if _, err := strconv.ParseUint(s, 10, 32); err == nil {
		return `; a number needs a unit: "` + s + `s"`
	}
	return ""
}

// writeDuration writes whole seconds in the form that the schemas take.
func writeDuration(d time.Duration) string {
	var b strings.Builder
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if n := d / unit.of; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, unit.name)
			d -= n * unit.of
		}
	}
	return b.String()
}

// duration parses an optional duration and reports what is wrong with it.
func (r *reporter) duration(path string, s *string, allowNever bool) cluster.Duration {
	if s == nil {
		return cluster.Duration{}
	}
	d, problem := parseDuration(*s, allowNever)
	if problem != "" {
		r.add(path, problem)
	}
	return d
}

// quantities parses the amounts of a custom resource, ordered by name, and
// reports those that cannot be used.
func quantities(m map[string]Quantity, path string, r *reporter) cluster.Resources {
	var out cluster.Resources
	for _, name := range sortedKeys(m) {
		at := key(path, name)
		if name == "" {
			r.add(at, "has no name; write the name of a resource, such as cpu")
			continue
		}
		q, problem := parseQuantity(m[name].Text)
		if problem != "" {
			r.add(at, problem)
			continue
		}
		amount, problem := amountOf(name, q)
		if problem != "" {
			r.add(at, problem)
			continue
		}
		out = append(out, cluster.Resource{Name: name, Amount: amount})
	}
	return out
}
