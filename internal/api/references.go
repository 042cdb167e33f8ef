package api

import (
	"slices"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// checkReferences looks for node classes that are named and not in the input. An
// input without any class is taken to be a part of what there is.
func (l *loader) checkReferences() {
	classes := l.result.Snapshot.NodeClasses
	if len(classes) == 0 {
		return
	}
	names := make([]string, 0, len(classes))
	for i := range classes {
		names = append(names, classes[i].Name)
	}
	for i := range l.result.Objects {
		o := &l.result.Objects[i]
		pool, ok := o.Defaulted.(*NodePool)
		if !ok {
			continue
		}
		ref := pool.Spec.Template.Spec.NodeClassRef
		known := cluster.NodeClassRef{Group: text(ref.Group), Kind: text(ref.Kind), Name: text(ref.Name)}
		if known.Group != groupClass || known.Kind != "EC2NodeClass" || slices.Contains(names, known.Name) {
			continue
		}
		l.rep.at(o)
		l.rep.warn("spec.template.spec.nodeClassRef.name", "no EC2NodeClass in the input is called "+known.Name+"; "+suggest(known.Name, names))
	}
}
