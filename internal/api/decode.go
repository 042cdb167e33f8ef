package api

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"math/bits"
	"reflect"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// decodeStrict decodes JSON into a struct and reports unknown fields, duplicate
// keys and wrong types with their paths. What stands under a top-level field
// named status is taken as far as it fits and never reported: it is written by
// controllers, of whatever version. It tells whether all was well; where it was
// not, the struct holds what could be read.
func decodeStrict(raw []byte, into any, rep *reporter) bool {
	v := reflect.ValueOf(into).Elem()
	if rep.shapes == nil {
		rep.shapes = shapes{}
	}
	d := decoder{scanner: scanner{data: raw}, rep: rep, path: rep.path[:0]}
	before := rep.count()
	if d.value(rep.shapes.of(v.Type()), v) && d.peek() != 0 {
		d.failByte("the end")
	}
	rep.path = d.path[:0]
	if d.mistake != "" {
		rep.add("", d.mistake)
	}
	return rep.count() == before
}

// segment is a step of a field path: a name, or an index where name is "".
type segment struct {
	name  string
	index int
	quote bool // the name is a key of a map
}

// decoder decodes one object. Its methods leave the scanner after the value
// that they read, and return false only when the text is broken, which ends the
// decoding; everything else is reported and passed over.
type decoder struct {
	scanner
	rep  *reporter
	path []segment
	lax  bool // inside of status
}

// where is the current field path.
func (d *decoder) where() string {
	path := ""
	for _, s := range d.path {
		switch {
		case s.name == "" && !s.quote:
			path = index(path, s.index)
		case s.quote:
			path = key(path, s.name)
		default:
			path = field(path, s.name)
		}
	}
	return path
}

// wrong reports something about the current field, which settles it.
func (d *decoder) wrong(message string) {
	if !d.lax {
		path := d.where()
		d.rep.add(path, message)
		d.rep.settle(path)
	}
}

// mismatch passes over a value of another type than the one that is wanted.
func (d *decoder) mismatch(wanted string) bool {
	start := d.pos
	found := describe(d.peek())
	if !d.skip() {
		return false
	}
	message := "must be " + wanted + ", not " + found
	raw := string(d.data[start:d.pos])
	switch {
	case wanted == "a string" && (found == "a number" || found == "true or false"):
		message += `; put it in quotes: "` + raw + `"`
	case found == "a string" && wanted != "an object" && wanted != "a list" && len(raw) <= 40:
		message += "; it says " + raw
	case wanted == "a list" && found == "an object":
		message += `; put "- " before it to make it a list of one`
	}
	d.wrong(message)
	return true
}

// describe names the type of the value that begins with a byte.
func describe(c byte) string {
	switch c {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}

// value decodes the value at the current position.
func (d *decoder) value(s *shape, v reflect.Value) bool {
	c := d.peek()
	if c == 'n' && s.kind != asNothing {
		v.SetZero() // null is as good as absent, as in the API server
		return d.word("null")
	}
	switch s.kind {
	case asPointer:
		v.Set(reflect.New(s.typ.Elem()))
		return d.value(s.elem, v.Elem())
	case asStruct:
		return d.object(s, v, c)
	case asMap, asStringMap, asResources:
		return d.mapping(s, v, c)
	case asList:
		return d.list(s, v, c)
	case asRaw:
		start := d.pos
		ok := d.skip()
		v.SetBytes(d.data[start:d.pos:d.pos])
		return ok
	case asNothing:
		return d.skip()
	default:
		return d.scalar(s, v, c)
	}
}

// object decodes into a struct.
func (d *decoder) object(s *shape, v reflect.Value, c byte) bool {
	if c != '{' {
		return d.mismatch("an object")
	}
	if !d.open() {
		return false
	}
	var seen [2]uint64
	for first := true; d.next(first, '}'); first = false {
		raw, escaped, ok := d.member()
		if !ok {
			return false
		}
		if escaped {
			raw = unescape(raw)
		}
		i, known := s.byName[string(raw)]
		if !known {
			if !d.unknown(s, string(raw)) {
				return false
			}
			continue
		}
		f := &s.fields[i]
		d.path = append(d.path, segment{name: f.name})
		if i < 128 {
			d.once(seen[i/64]>>(i%64)&1 == 0)
			seen[i/64] |= 1 << (i % 64)
		}
		if !d.fieldValue(f, v) {
			return false
		}
		d.path = d.path[:len(d.path)-1]
	}
	return d.mistake == ""
}

// fieldValue decodes a field, leniently where it is the status of the object.
func (d *decoder) fieldValue(f *shapeField, v reflect.Value) bool {
	for _, i := range f.index {
		v = v.Field(i)
	}
	if len(d.path) == 1 && f.name == "status" {
		d.lax = true
		defer func() { d.lax = false }()
	}
	return d.value(f.shape, v)
}

// unknown reports a field that the struct does not have, and passes over it.
func (d *decoder) unknown(s *shape, name string) bool {
	if !d.lax {
		d.path = append(d.path, segment{name: name, quote: true})
		path := d.where()
		if hint, ok := d.rep.hints[path]; ok {
			d.rep.add(path, hint)
		} else {
			d.rep.add(path, "unknown field; "+suggest(name, s.names()))
		}
		d.path = d.path[:len(d.path)-1]
		if near := nearest(name, s.names()); near != "" {
			d.rep.settle(field(d.where(), near)) // or it would be reported as missing as well
		}
	}
	return d.skip()
}

// mapping decodes into a map with string keys. The kinds that occur in every
// pod go without reflection.
func (d *decoder) mapping(s *shape, v reflect.Value, c byte) bool {
	if c != '{' {
		return d.mismatch("an object")
	}
	if !d.open() {
		return false
	}
	switch s.kind {
	case asStringMap:
		return d.stringMap(v)
	case asResources:
		return d.resources(v)
	}
	m, keyType := reflect.MakeMap(s.typ), s.typ.Key()
	v.Set(m)
	for first := true; d.next(first, '}'); first = false {
		name, ok := d.enter()
		if !ok {
			return false
		}
		k, e := reflect.ValueOf(name).Convert(keyType), reflect.New(s.elem.typ).Elem()
		d.once(!m.MapIndex(k).IsValid())
		if !d.value(s.elem, e) {
			return false
		}
		m.SetMapIndex(k, e)
		d.path = d.path[:len(d.path)-1]
	}
	return d.mistake == ""
}

func (d *decoder) stringMap(v reflect.Value) bool {
	m := map[string]string{}
	v.Set(reflect.ValueOf(m))
	for first := true; d.next(first, '}'); first = false {
		name, ok := d.enter()
		if !ok {
			return false
		}
		_, twice := m[name]
		d.once(!twice)
		if m[name], ok = d.stringValue(); !ok {
			return false
		}
		d.path = d.path[:len(d.path)-1]
	}
	return d.mistake == ""
}

func (d *decoder) resources(v reflect.Value) bool {
	m := corev1.ResourceList{}
	v.Set(reflect.ValueOf(m))
	for first := true; d.next(first, '}'); first = false {
		name, ok := d.enter()
		if !ok {
			return false
		}
		_, twice := m[corev1.ResourceName(name)]
		d.once(!twice)
		q, valid, ok := d.quantity(d.peek())
		if !ok {
			return false
		}
		if valid {
			m[corev1.ResourceName(name)] = q
		}
		d.path = d.path[:len(d.path)-1]
	}
	return d.mistake == ""
}

// enter reads a key of a map and makes it the current field.
func (d *decoder) enter() (name string, ok bool) {
	raw, escaped, ok := d.member()
	if !ok {
		return "", false
	}
	if escaped {
		raw = unescape(raw)
	}
	name = d.rep.strings.text(raw)
	d.path = append(d.path, segment{name: name, quote: true})
	return name, true
}

// once reports a key that its object has had before.
func (d *decoder) once(fresh bool) {
	if !fresh {
		d.wrong("stands here twice; keep one")
	}
}

// list decodes into a slice; an empty list is not nil.
func (d *decoder) list(s *shape, v reflect.Value, c byte) bool {
	if c != '[' {
		return d.mismatch("a list")
	}
	if !d.open() {
		return false
	}
	n := 0
	for first := true; d.next(first, ']'); first = false {
		v.Grow(1)
		v.SetLen(n + 1)
		d.path = append(d.path, segment{index: n})
		if !d.value(s.elem, v.Index(n)) {
			return false
		}
		d.path = d.path[:len(d.path)-1]
		n++
	}
	if n == 0 {
		v.Set(reflect.MakeSlice(s.typ, 0, 0))
	}
	return d.mistake == ""
}

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
