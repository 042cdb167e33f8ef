// Package api reads manifests: it turns the bytes of YAML and JSON files into
// the nouns of package cluster, with the defaults of the public schemas filled
// in and every mistake reported where it stands.
//
// Load is the one entry point. It does no I/O and keeps no state: the caller
// reads the files. What it refuses it refuses with a file, a document, an
// object, a field path and a mend; it never stops at the first mistake, and no
// input makes it panic.
package api
