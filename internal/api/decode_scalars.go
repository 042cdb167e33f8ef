package api

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"math/bits"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// scalar decodes what is neither object nor list.
func (d *decoder) scalar(s *shape, v reflect.Value, c byte) bool {
	switch s.kind {
	case asString:
		text, ok := d.stringValue()
		v.SetString(text)
		return ok
	case asBool:
		return d.boolean(v, c)
	case asInt, asUint:
		return d.integer(v, c)
	case asFloat:
		return d.float(v, c)
	case asQuantity:
		q, _, ok := d.quantity(c)
		*v.Addr().Interface().(*resource.Quantity) = q
		return ok
	case asAmount:
		return d.amount(v, c)
	case asIntOrString:
		return d.intOrString(v, c)
	case asBytes:
		return d.bytes(v, c)
	default:
		return d.custom(v, c)
	}
}

// stringValue decodes a string; null is the empty one.
func (d *decoder) stringValue() (string, bool) {
	switch d.peek() {
	case '"':
		return d.textValue()
	case 'n':
		return "", d.word("null")
	}
	return "", d.mismatch("a string")
}

// textValue decodes the string at the current position.
func (d *decoder) textValue() (string, bool) {
	raw, escaped, ok := d.text()
	if !ok {
		return "", false
	}
	if escaped {
		raw = unescape(raw)
	}
	return d.rep.strings.text(raw), true
}

func (d *decoder) boolean(v reflect.Value, c byte) bool {
	switch c {
	case 't':
		v.SetBool(true)
		return d.word("true")
	case 'f':
		v.SetBool(false)
		return d.word("false")
	}
	return d.mismatch("true or false")
}

// integer decodes a whole number; 5.0 is one, as in the API server.
func (d *decoder) integer(v reflect.Value, c byte) bool {
	if !startsNumber(c) {
		return d.mismatch("a whole number")
	}
	raw, ok := d.number()
	if !ok {
		return false
	}
	n, whole := wholeNumber(raw)
	switch {
	case !whole:
		d.wrong("must be a whole number, not " + string(raw))
	case v.CanInt() && v.OverflowInt(n), v.CanUint() && (n < 0 || v.OverflowUint(uint64(n))):
		d.wrong(string(raw) + " is out of range; it must be from " + rangeOf(v.Type()))
	case v.CanInt():
		v.SetInt(n)
	default:
		v.SetUint(uint64(n))
	}
	return true
}

// wholeNumber reads a JSON number without a fraction.
func wholeNumber(raw []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<63 {
		return 0, false
	}
	return int64(f), true
}

// rangeOf writes the range of an integer type.
func rangeOf(t reflect.Type) string {
	size := t.Bits()
	if t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64 {
		return "0 to " + strconv.FormatUint(math.MaxUint64>>(bits.UintSize-size), 10)
	}
	top := int64(math.MaxInt64) >> (64 - size)
	return strconv.FormatInt(-top-1, 10) + " to " + strconv.FormatInt(top, 10)
}

func (d *decoder) float(v reflect.Value, c byte) bool {
	if !startsNumber(c) {
		return d.mismatch("a number")
	}
	raw, ok := d.number()
	if !ok {
		return false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		d.wrong(string(raw) + " is out of range")
	}
	v.SetFloat(f)
	return true
}

// quantity decodes a quantity, be it written as a string or as a number. It is
// not valid when it has been reported, or left out as null.
func (d *decoder) quantity(c byte) (q resource.Quantity, valid, ok bool) {
	var text string
	switch {
	case c == '"':
		if text, ok = d.textValue(); !ok {
			return q, false, false
		}
	case startsNumber(c):
		raw, ok := d.number()
		if !ok {
			return q, false, false
		}
		text = string(raw)
	case c == 'n':
		return q, false, d.word("null")
	default:
		return q, false, d.mismatch("a quantity")
	}
	q, problem := parseQuantity(text)
	if problem != "" {
		d.wrong(problem)
	}
	return q, problem == "", true
}

// amount decodes a quantity of a custom resource: text, or a whole number.
func (d *decoder) amount(v reflect.Value, c byte) bool {
	into := v.Addr().Interface().(*Quantity)
	if c == '"' {
		text, ok := d.textValue()
		*into = Quantity{Text: text}
		return ok
	}
	if !startsNumber(c) {
		return d.mismatch("a quantity")
	}
	raw, ok := d.number()
	if !ok {
		return false
	}
	if _, whole := wholeNumber(raw); !whole {
		d.wrong(`must be a whole number or a quantity in quotes: "` + string(raw) + `"`)
	}
	*into = Quantity{Text: string(raw), Number: true}
	return true
}

func (d *decoder) intOrString(v reflect.Value, c byte) bool {
	into := v.Addr().Interface().(*intstr.IntOrString)
	if c == '"' {
		text, ok := d.textValue()
		*into = intstr.FromString(text)
		return ok
	}
	if !startsNumber(c) {
		return d.mismatch("a whole number or a string")
	}
	into.Type = intstr.Int
	return d.integer(reflect.ValueOf(&into.IntVal).Elem(), c)
}

func (d *decoder) bytes(v reflect.Value, c byte) bool {
	if c != '"' {
		return d.mismatch("a string")
	}
	text, ok := d.textValue()
	b, err := base64.StdEncoding.DecodeString(text)
	if ok && err != nil {
		d.wrong("must be base64")
	}
	v.SetBytes(b)
	return ok
}

// custom decodes a type by its own method: times and durations, mostly.
func (d *decoder) custom(v reflect.Value, c byte) bool {
	start := d.pos
	if !d.skip() {
		return false
	}
	raw := d.data[start:d.pos]
	if err := json.Unmarshal(raw, v.Addr().Interface()); err != nil {
		v.SetZero()
		wanted := "of another form (" + err.Error() + ")"
		switch name := v.Type().Name(); {
		case strings.HasSuffix(name, "Duration"):
			wanted = "a duration such as 1h30m"
		case strings.HasSuffix(name, "Time"):
			wanted = "a time such as 2026-01-31T12:00:00Z"
		}
		found := describe(c)
		if c == '"' && len(raw) <= 40 {
			found = string(raw)
		}
		d.wrong("must be " + wanted + ", not " + found)
	}
	return true
}

func startsNumber(c byte) bool { return c == '-' || '0' <= c && c <= '9' }
