// Package catalog knows instance types: what they are, where they are offered
// and at what price, and what a node of each would have left for pods.
//
// There are two kinds of catalogue. Embedded is made from a table of facts that
// is built into the program (table.bin, written by the generator in gen) and
// turns facts into labels, capacity and allocatable by the formulae that the
// EKS images use, under the settings of a node class. Parse reads a catalogue of
// the user's own, whose numbers are taken as they stand.
//
// Either gives []cluster.InstanceType by Catalog.InstanceTypes, and WithOverlays
// applies the NodeOverlays of a cluster to that.
//
// The package does no I/O. A catalogue never changes after it has been made, and
// may be used by several goroutines.
package catalog

//go:generate go run ./gen -from $CATALOG_FACTS -stamp $CATALOG_STAMP -out table.bin
