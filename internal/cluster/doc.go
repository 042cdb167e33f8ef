// Package cluster holds the nouns that every other package speaks of: pods,
// nodes, claims, NodePools, instance types, offerings and the Snapshot that
// carries them into a decision.
//
// It is data only. It reads no clock, does no I/O, decides nothing and imports
// nothing of this module. Kubernetes value types (tolerations, affinity terms,
// selectors) are used as they are; quantities are int64 in the units that
// Resources documents.
package cluster
