// Package scheduling finds places for pods: on standing nodes, on claims in
// flight, and on new nodes chosen for price. It is the hot path.
//
// Solve is the one entry point. It is pure: no clock, no I/O, no randomness;
// the same problem, its lists in any order, gives the same result.
//
// How it works, by file, in the order in which a problem goes through them:
//
//	problem.go    what goes in and what comes out
//	solve.go      the steps
//	values.go     sets of label values: what a requirement allows
//	columns.go    offerings as columns of a bit matrix, requirements as bit sets (bits.go)
//	signature.go  what a pod asks of a node's labels and taints, compiled once a shape
//	pools.go      NodePools against their columns, daemons, limits
//	volumes.go    persistent volumes as requirements and attachment counts
//	sharing.go    volumes that several pods use
//	groups.go     topology rules (spread, affinity, anti-affinity, ports) as counters
//	classes.go    pods that cannot be told apart are one class with a count (shapehash.go)
//	prefer.go     preferred node affinity weighed against price
//	tally.go      counts by domain
//	domains.go    which zone (or other domain) each pod of a topology rule takes
//	items.go      what packing places: pods, and bundles that must share a node
//	hosts.go      rules of the node as caps; wishes.go the same where only preferred
//	standing.go   nodes that stand and claims in flight take what they can
//	segments.go   columns that the same pods may use; dominated types fall away
//	lp.go         the fractional covering program
//	worth.go      what an hour of each item is worth
//	fill.go       the best load for one node of a type
//	pack.go       which nodes to open, by worth for price
//	search.go     several runs, the best of them, its tail packed anew; merge.go
//	open.go       from loads to nodes; reservations
//	refine.go     small plans, looked at pod by pod
//	enforce.go    every rule counted anew over what is placed; binding.go in an order
//	settle.go     what is open about a node and matters to a rule is decided
//	strays.go     pods that bulk packing could not place, one by one, by every rule
//	displace.go   room for pods of higher priority
//	finish.go     the result; choices.go the types, zones and capacity types that may be launched
//	bound.go      the price that no plan can beat
//	reasons.go    why a pod went nowhere (reasons_topology.go, reasons_text.go)
package scheduling
