package api

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
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
	case wanted == "a string" && found == "a number" && d.isDuration():
		message += `; write it in quotes with a unit: "` + raw + `s"`
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

// durations are the fields that hold a duration.
var durations = []string{"consolidateAfter", "duration", "expireAfter", "terminationGracePeriod"}

// isDuration tells whether the current field holds a duration.
func (d *decoder) isDuration() bool {
	return len(d.path) > 0 && slices.Contains(durations, d.path[len(d.path)-1].name)
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
