package api

import (
	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// Source is one input: a name for messages (a file's path, or "stdin") and its
// bytes.
type Source struct {
	Name string
	Data []byte
}

// Options are the settings of the installation that change what manifests mean.
// The zero value is the default.
type Options struct {
	// ReservedENIs is how many network interfaces of a node are kept from pods.
	ReservedENIs int64
}

// Object is one decoded object and where it came from.
type Object struct {
	File     string
	Document int // from 1
	Item     int // from 1 inside a List, 0 when not in one

	APIVersion, Kind, Namespace, Name string

	Raw []byte // JSON, as it was in the input
	// Defaulted is the object with its defaults filled in, ready for
	// json.Marshal; nil where Raw is already all that there is to say.
	Defaulted any
}

// Ref names the object for people: Kind/name or Kind/namespace/name.
func (o *Object) Ref() string {
	switch {
	case o.Kind == "":
		return ""
	case o.Namespace == "":
		return o.Kind + "/" + o.Name
	}
	return o.Kind + "/" + o.Namespace + "/" + o.Name
}

// Result is everything that the input says. The snapshot and the objects are
// whole only when there are no errors.
type Result struct {
	Snapshot cluster.Snapshot
	Objects  []Object
	// InstanceTypes is the JSON array of a custom catalogue that came with the
	// input; nil when there was none.
	InstanceTypes []byte

	Errors []Error // at most 1,000, in the order of the input
	// MoreErrors is how many were found beyond those.
	MoreErrors int
	Warnings   []string
	// Ignored counts objects of kinds that are not read, by "apiVersion/Kind".
	Ignored map[string]int
}

// Load decodes, defaults and validates manifests. It reports every mistake that
// it finds, not the first. The result refers to the bytes of the sources, which
// must not change afterwards.
func Load(sources []Source, opts Options) *Result {
	l := newLoader(opts)
	for _, s := range sources {
		l.source(s)
	}
	return l.finish()
}
