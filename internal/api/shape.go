package api

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// shapeKind says how JSON becomes a Go value of some type.
type shapeKind uint8

const (
	asStruct shapeKind = iota
	asMap
	asStringMap // map[string]string
	asList
	asPointer
	asString
	asInt
	asUint
	asFloat
	asBool
	asBytes       // base64
	asQuantity    // resource.Quantity
	asResources   // corev1.ResourceList
	asAmount      // Quantity: text or a whole number, kept as text
	asIntOrString // intstr.IntOrString
	asCustom      // by its own json.Unmarshaler: times and durations, mostly
	asRaw         // json.RawMessage: a part of the input
	asNothing     // passed over
)

// shape is a Go type as the decoder sees it.
type shape struct {
	kind   shapeKind
	typ    reflect.Type
	elem   *shape // of lists, maps and pointers
	fields []shapeField
	byName map[string]int
}

// shapeField is a field of a struct, those of inlined structs included.
type shapeField struct {
	name  string
	index []int
	shape *shape
}

// names are the names that the struct's fields have in JSON, sorted.
func (s *shape) names() []string {
	out := make([]string, 0, len(s.fields))
	for i := range s.fields {
		out = append(out, s.fields[i].name)
	}
	slices.Sort(out)
	return out
}

// shapes are the shapes that are known already.
type shapes map[reflect.Type]*shape

var (
	typeStringMap   = reflect.TypeFor[map[string]string]()
	typeQuantity    = reflect.TypeFor[resource.Quantity]()
	typeResources   = reflect.TypeFor[corev1.ResourceList]()
	typeAmount      = reflect.TypeFor[Quantity]()
	typeIntOrString = reflect.TypeFor[intstr.IntOrString]()
	typeRaw         = reflect.TypeFor[json.RawMessage]()
	typeBytes       = reflect.TypeFor[[]byte]()
	typeMeta        = reflect.TypeFor[metav1.ObjectMeta]()
	typeUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	typeText        = reflect.TypeFor[encoding.TextUnmarshaler]()
	typeExtension   = reflect.TypeFor[runtime.RawExtension]()
)

// of gives the shape of a type. Shapes refer to each other where types do.
func (m shapes) of(t reflect.Type) *shape {
	if s, ok := m[t]; ok {
		return s
	}
	s := &shape{typ: t}
	m[t] = s
	switch t {
	case typeStringMap:
		s.kind = asStringMap
		return s
	case typeQuantity:
		s.kind = asQuantity
		return s
	case typeResources:
		s.kind = asResources
		return s
	case typeAmount:
		s.kind = asAmount
		return s
	case typeIntOrString:
		s.kind = asIntOrString
		return s
	case typeRaw:
		s.kind = asRaw
		return s
	case typeBytes:
		s.kind = asBytes
		return s
	case typeExtension:
		s.kind = asNothing
		return s
	}
	if reflect.PointerTo(t).Implements(typeUnmarshaler) || reflect.PointerTo(t).Implements(typeText) {
		s.kind = asCustom
		if t.Kind() == reflect.Struct && t.NumField() == 0 {
			s.kind = asNothing // nothing can be kept of it
		}
		return s
	}
	m.fill(s)
	return s
}

// fill completes the shape of a type that has no rule of its own.
func (m shapes) fill(s *shape) {
	switch s.typ.Kind() {
	case reflect.Struct:
		s.kind = asStruct
		m.addFields(s, s.typ, nil)
		s.byName = make(map[string]int, len(s.fields))
		for i, f := range s.fields {
			s.byName[f.name] = i
		}
	case reflect.Map:
		s.kind, s.elem = asMap, m.of(s.typ.Elem())
	case reflect.Slice:
		s.kind, s.elem = asList, m.of(s.typ.Elem())
	case reflect.Pointer:
		s.kind, s.elem = asPointer, m.of(s.typ.Elem())
	case reflect.String:
		s.kind = asString
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		s.kind = asInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		s.kind = asUint
	case reflect.Float32, reflect.Float64:
		s.kind = asFloat
	case reflect.Bool:
		s.kind = asBool
	default:
		s.kind = asNothing
	}
}

// addFields collects the fields of a struct by their json tags.
func (m shapes) addFields(s *shape, t reflect.Type, prefix []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := append(slices.Clone(prefix), i)
		switch {
		case name == "-" || !f.IsExported():
		case f.Anonymous && name == "" || rest == "inline":
			m.addFields(s, f.Type, at)
		default:
			if name == "" {
				name = f.Name
			}
			of := m.of(f.Type)
			if t == typeMeta && name == "managedFields" {
				of = &shape{kind: asNothing, typ: f.Type} // long, and nothing depends on it
			}
			s.fields = append(s.fields, shapeField{name: name, index: at, shape: of})
		}
	}
}
