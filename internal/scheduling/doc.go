// Package scheduling finds places for pods: on standing nodes, on claims in
// flight, and on new nodes chosen for price. It is the hot path.
//
// Solve is the one entry point. It is pure: no clock, no I/O, no randomness;
// the same problem, its lists in any order, gives the same result.
//
// How it works, in the order of the files:
//
//	values.go     sets of label values: what a requirement allows
//	columns.go    offerings as columns of a bit matrix, requirements as bit sets
//	signature.go  what a pod asks of a node's labels and taints, compiled once a shape
//	volumes.go    persistent volumes as requirements and attachment counts
//	groups.go     topology rules (spread, affinity, anti-affinity, ports) as counters
//	classes.go    pods that cannot be told apart are one class with a count
//	prefer.go     preferences weighed against price
//	domains.go    which zone (or other domain) each pod of a topology rule takes
//	standing.go   nodes that stand and claims in flight take what they can
//	segments.go   columns that the same pods may use; dominated types fall away
//	lp.go         the linear relaxation: the lower bound and the worth of a pod
//	fill.go       the best load for one node of a type
//	pack.go       which nodes to open, by worth for price
//	improve.go    dissolve and merge nodes, right-size
//	strays.go     pods that bulk packing could not place, one by one, by every rule
//	finish.go     the types, zones and capacity types that may be launched
//	reasons.go    why a pod went nowhere
package scheduling
