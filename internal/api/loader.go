package api

import (
	"bytes"
	"fmt"
	"strconv"
)

// maxObject is how many bytes an object of a kind that is read may have. It is
// several times what an API server takes, for objects that are printed with
// indentation.
const maxObject = 16 << 20

// maxLists is how deep lists of lists may go.
const maxLists = 8

// loader carries one Load from the first source to the result.
type loader struct {
	opts   Options
	rep    *reporter
	result *Result
	acc    *coreAccumulator
	// seen holds the index in result.Objects of every object that has a name.
	seen map[identity]int
	// overlays holds the index in result.Objects of each overlay of the snapshot.
	overlays []int

	most int  // objects
	full bool // most is reached, and that has been said
}

// identity is what makes two objects the same one, whatever the version of the
// API in which they are written.
type identity struct{ group, kind, namespace, name string }

func newLoader(opts Options) *loader {
	return &loader{
		opts:   opts,
		rep:    &reporter{},
		result: &Result{Ignored: map[string]int{}},
		acc:    &coreAccumulator{},
		seen:   map[identity]int{},
		most:   maxObjects,
	}
}

// source reads all documents of one source.
func (l *loader) source(s Source) {
	if l.full {
		return
	}
	l.rep.at(&Object{File: s.Name})
	text, problem := plainText(s.Data, maxSource)
	if problem != "" {
		l.rep.add("", problem)
		return
	}
	// JSON objects in a row are documents of their own, though nothing stands
	// between them.
	more := 0
	documents(text, func(d document) bool {
		d.number += more
		if looksJSON(d.text) {
			more += l.jsonDocument(s.Name, d) - 1
		} else {
			l.yamlDocument(s.Name, d)
		}
		return !l.enough()
	})
}

// maxMistakes is how many errors one input may have before the reading ends. It
// is more than are told, so that their number says something.
const maxMistakes = 100 * maxErrors

// enough tells whether to read no further: there are too many objects, or so
// many errors that this cannot be the file that was meant.
func (l *loader) enough() bool {
	if !l.full && l.rep.count() >= maxMistakes {
		l.full = true
		l.rep.warn("", "has so many errors that the reading ended here; is this the right file?")
	}
	return l.full
}

// jsonDocument reads JSON values in a row and returns how many there were.
func (l *loader) jsonDocument(file string, d document) int {
	body := afterComments(d.text)
	skipped := len(d.text) - len(body)
	s := scanner{data: body}
	n := 0
	for s.peek() != 0 {
		o := Object{File: file, Document: d.number + n}
		n++
		start := s.pos
		if !s.skip() {
			line, column := position(d.text, skipped+s.pos)
			l.rep.at(&o)
			l.rep.add("", fmt.Sprintf("line %d, column %d: is not valid JSON: %s", d.line+line-1, column, s.mistake))
			break
		}
		l.value(o, s.data[start:s.pos:s.pos], 0)
		if l.enough() {
			break
		}
	}
	return max(n, 1)
}

// yamlDocument reads one YAML document. A long list is read item by item, so
// that its size costs time but hardly memory.
func (l *loader) yamlDocument(file string, d document) {
	o := Object{File: file, Document: d.number}
	if list, ok := cutList(d.text); ok && l.yamlList(o, d, list) {
		return
	}
	raw, problems := yamlToJSON(d.text, aliasLimit(len(d.text)))
	if len(problems) > 0 {
		l.badYAML(o, d.text, d.line, problems)
		return
	}
	l.value(o, raw, 0)
}

// aliasLimit is how long the JSON of a YAML document may become.
func aliasLimit(length int) int { return 8*length + 16<<20 }

// badYAML reports what is wrong with a document of YAML, or with a part of it.
// first is the line of the source at which the text begins.
func (l *loader) badYAML(o Object, text []byte, first int, problems []yamlProblem) {
	l.rep.at(&o)
	for i, p := range problems {
		message := "is not valid YAML: " + p.message
		if p.line > 0 {
			message = "line " + strconv.Itoa(first+p.line-1) + ": " + message
		}
		if i == 0 && p.line > 0 { // one search of the text is enough: broken syntax is one problem
			if _, next := indentation(lineAt(text, p.line)); next == '\t' {
				message += "; indent with spaces, not with tabs"
			}
		}
		l.rep.add("", message)
	}
}

// lineAt is a line of a text, counted from 1.
func lineAt(text []byte, line int) []byte {
	for ; line > 1; line-- {
		text = text[lineLength(text):]
	}
	return text[:lineLength(text)]
}

// value takes a whole JSON value: an object, a list of objects, or a mistake.
// The syntax has been checked.
func (l *loader) value(o Object, raw []byte, depth int) {
	switch (&scanner{data: raw}).peek() {
	case '{':
		l.object(o, raw, depth)
	case '[':
		l.items(o, raw, "", "", depth)
	case 'n': // null: nothing is said
	default:
		l.rep.at(&o)
		l.rep.add("", "is "+describe(raw[0])+", not a Kubernetes object; an object has apiVersion, kind and metadata")
	}
}

// items takes the elements of a list. They may lack apiVersion and kind where
// the list is of one kind, which is then given.
func (l *loader) items(o Object, raw []byte, apiVersion, kind string, depth int) {
	if depth >= maxLists {
		l.rep.at(&o)
		l.rep.add("", "lists of lists nest deeper than "+strconv.Itoa(maxLists)+" levels")
		return
	}
	n := 0
	eachElement(raw, func(item []byte) bool {
		n++
		l.item(o, item, apiVersion, kind, n, depth)
		return !l.enough()
	})
}

// item takes one element of a list.
func (l *loader) item(o Object, raw []byte, apiVersion, kind string, n, depth int) {
	if depth == 0 {
		o.Item = n
	}
	o.APIVersion, o.Kind = apiVersion, kind
	l.value(o, raw, depth+1)
}

// object takes one JSON object. APIVersion and Kind of o are what its list says
// it is, where it does not say so itself.
func (l *loader) object(o Object, raw []byte, depth int) {
	e := readEnvelope(raw)
	o.Raw = raw
	if e.kind == "" && e.apiVersion == "" && o.Kind == "" && len(e.flat) > 0 {
		l.flat(o, raw, e, depth)
		return
	}
	if e.kind != "" {
		o.Kind = e.kind
	}
	if e.apiVersion != "" {
		o.APIVersion = e.apiVersion
	}
	o.Namespace, o.Name = e.namespace, e.name
	if apiVersion, kind, ok := listOf(o.APIVersion, o.Kind, e.items); ok {
		if e.items != nil {
			l.items(o, e.items, apiVersion, kind, depth)
		}
		return
	}
	l.dispatch(o)
}

// listOf tells whether a kind is a list, and of what: of anything when kind is
// "".
func listOf(apiVersion, kind string, items []byte) (itemVersion, itemKind string, ok bool) {
	switch {
	case kind == "List":
		return "", "", true
	case len(kind) > 4 && kind[len(kind)-4:] == "List" && items != nil:
		return apiVersion, kind[:len(kind)-4], true
	}
	return "", "", false
}

// dispatch hands an object to whoever knows its kind.
func (l *loader) dispatch(o Object) {
	l.rep.at(&o)
	if !l.hasKind(&o) {
		return
	}
	id := o.APIVersion + "/" + o.Kind
	namespaced, core := coreKinds[id]
	convert, own := ownKinds[id]
	if !core && !own {
		l.foreign(&o)
		return
	}
	switch {
	case !namespaced:
		o.Namespace = "" // as the API server does
	case o.Namespace == "":
		o.Namespace = "default"
	}
	l.rep.at(&o)
	if len(o.Raw) > maxObject {
		l.rep.addf("", "is %d MiB long; no API server takes an object of more than 3 MiB: is a part of it there many times?", len(o.Raw)>>20)
		return
	}
	if !l.admit(&o) {
		return
	}
	if core {
		convertCore(o, l.rep, l.acc)
		return
	}
	l.result.Objects[len(l.result.Objects)-1].Defaulted = convert(l, &o)
}

// hasKind reports an object that does not say what it is.
func (l *loader) hasKind(o *Object) bool {
	if o.Kind == "" && hasField(o.Raw, []string{"kind"}) || o.APIVersion == "" && hasField(o.Raw, []string{"apiVersion"}) {
		l.rep.add("", "kind and apiVersion must be strings that say something, such as kind: NodePool and apiVersion: karpenter.sh/v1")
		return false
	}
	if o.Kind == "" {
		l.rep.add("kind", "is missing; a Kubernetes object says what it is, such as kind: NodePool")
	}
	if o.APIVersion == "" {
		l.rep.add("apiVersion", "is missing; a Kubernetes object says its version, such as apiVersion: "+versionFor(o.Kind))
	}
	return o.Kind != "" && o.APIVersion != ""
}

// admit adds an object to the result unless it is there already, or there are
// too many.
func (l *loader) admit(o *Object) bool {
	if len(l.result.Objects) >= l.most {
		l.full = true
		l.rep.add("", "the input has more than "+strconv.Itoa(l.most)+" objects; plan for a part of them at a time")
		return false
	}
	if o.Name != "" {
		group, _ := splitVersion(o.APIVersion)
		id := identity{group, o.Kind, o.Namespace, o.Name}
		if at, twice := l.seen[id]; twice {
			l.twice(o, &l.result.Objects[at])
			return false
		}
		l.seen[id] = len(l.result.Objects)
	}
	l.result.Objects = append(l.result.Objects, *o)
	return true
}

// twice reports an object that stands in the input a second time.
func (l *loader) twice(o, first *Object) {
	place := first.place()
	if bytes.Equal(o.Raw, first.Raw) {
		l.rep.warn("", "stands here a second time, word for word as in "+place+"; it counts once")
		return
	}
	l.rep.add("metadata.name", "the same object stands in "+place+" with other content; keep one of the two")
}

// place says where an object stands.
func (o *Object) place() string {
	s := o.File + ", document " + strconv.Itoa(o.Document)
	if o.Item > 0 {
		s += ", item " + strconv.Itoa(o.Item)
	}
	return s
}

// finish resolves what spans objects and closes the result.
func (l *loader) finish() *Result {
	l.acc.finish(&l.result.Snapshot, l.rep)
	l.checkReferences()
	l.checkOverlays()
	r := l.result
	r.Errors, r.MoreErrors, r.Warnings = l.rep.errors, l.rep.more, l.rep.warnings
	return r
}
