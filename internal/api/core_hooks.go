package api

import "github.com/dovetail-sh/dovetail/internal/cluster"

// coreKinds are the kinds that convertCore takes, by "apiVersion/Kind"; the
// value tells whether the kind lives in a namespace (Load then fills in
// "default" where an object names none, and clears it for the others).
var coreKinds = map[string]bool{}

// coreAccumulator gathers what the core kinds say until all objects are read.
type coreAccumulator struct{}

// convertCore decodes and validates one object of a core kind. The reporter
// stands on the object.
func convertCore(o Object, rep *reporter, acc *coreAccumulator) {}

// finish resolves what refers to other objects, expands workloads and puts the
// result into the snapshot.
func (acc *coreAccumulator) finish(snap *cluster.Snapshot, rep *reporter) {}
