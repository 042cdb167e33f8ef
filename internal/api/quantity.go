package api

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// Quantity is an amount in a custom resource as its author wrote it, such as
// 10, "500m" or "64Gi". The schema keeps the spelling, and so does the defaulted
// output.
type Quantity struct {
	Text   string
	Number bool // written without quotes
}

// MarshalJSON writes the amount as it was written.
func (q Quantity) MarshalJSON() ([]byte, error) {
	if q.Number {
		return []byte(q.Text), nil
	}
	return json.Marshal(q.Text)
}

// parseQuantity reads a quantity; problem says what is wrong with it, with a
// mend.
func parseQuantity(text string) (q resource.Quantity, problem string) {
	if hugeExponent(text) {
		return q, strconv.Quote(shorten(text)) + " is more, or less, than can be counted; write it without an exponent"
	}
	q, err := resource.ParseQuantity(text)
	if err == nil && strings.ContainsAny(text, "0123456789") { // a suffix alone would pass for 0
		return q, ""
	}
	problem = strconv.Quote(shorten(text)) + " is not a quantity; write a number and perhaps one of the suffixes m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei"
	if mend := mendQuantity(text); mend != "" {
		problem += `; did you mean "` + mend + `"?`
	}
	return resource.Quantity{}, problem
}

// hugeExponent tells whether a quantity is written so that computing with it
// would take for ever: 1e2147483647 has two thousand million digits.
func hugeExponent(text string) bool {
	i := strings.LastIndexAny(text, "eE")
	if i < 0 {
		return len(text) > internLength
	}
	digits := strings.TrimLeft(strings.TrimLeft(text[i+1:], "+-"), "0")
	return i > internLength || len(digits) > 2
}

// shorten cuts what a user wrote to a length that fits in a message.
func shorten(text string) string {
	if r := []rune(text); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return text
}

// mendQuantity guesses the quantity that was meant, "" where it cannot.
func mendQuantity(text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(text), " ", "")
	digits := strings.TrimLeft(text, "0123456789.")
	number, unit := text[:len(text)-len(digits)], strings.ToLower(digits)
	suffix, ok := map[string]string{
		"kb": "k", "mb": "M", "gb": "G", "tb": "T", "g": "G", "t": "T", "kib": "Ki", "mib": "Mi", "gib": "Gi", "tib": "Ti",
		"ki": "Ki", "mi": "Mi", "gi": "Gi", "ti": "Ti", "": "", "b": "", "millicores": "m", "cores": "", "core": "", "vcpu": "", "cpu": "",
	}[unit]
	if !ok {
		return ""
	}
	if _, err := resource.ParseQuantity(number + suffix); err != nil || number == "" {
		return ""
	}
	return number + suffix
}

var maxQuantity = *resource.NewQuantity(math.MaxInt64, resource.DecimalSI)

// amountOf converts a quantity to the unit of its resource, rounded up. When
// that cannot be done it says why, with a mend; problem is "" when all is well.
func amountOf(name string, q resource.Quantity) (amount int64, problem string) {
	if q.Sign() < 0 {
		return 0, `"` + q.String() + `" is negative; use 0 or more`
	}
	scale := resource.Scale(0)
	limit := maxQuantity
	if name == cluster.CPU {
		scale = resource.Milli
		limit = *resource.NewMilliQuantity(math.MaxInt64, resource.DecimalSI)
	}
	if q.Cmp(limit) >= 0 { // what is larger has been cut to the limit on reading
		return 0, `"` + q.String() + `" is more than can be counted; the most is ` + limit.String()
	}
	return q.ScaledValue(scale), ""
}

// resourcesOf converts a resource list, ordered by name, and reports amounts
// that cannot be used at path.
func resourcesOf(list corev1.ResourceList, path string, rep *reporter) cluster.Resources {
	if len(list) == 0 {
		return nil
	}
	out := make(cluster.Resources, 0, len(list))
	for _, name := range sortedKeys(list) {
		amount, problem := amountOf(string(name), list[name])
		if problem != "" {
			rep.add(key(path, string(name)), problem)
			continue
		}
		out = append(out, cluster.Resource{Name: string(name), Amount: amount})
	}
	return out
}
