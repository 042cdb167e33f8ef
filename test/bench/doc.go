// Package bench measures the planner: the seven kinds of workload that package
// gen makes, many pods, many standing nodes, and recorded pods where the shared
// data is there, all against the embedded catalogue.
//
//	go test ./test/bench -run '^$' -bench . -benchtime 1x -benchmem
//
// Each benchmark reports beside time and bytes: pods a second, $ an hour, nodes,
// the ratio of the price to a lower bound (bound.go), and how many pods were left
// out. peer.sh runs another scheduler beside the command line, where it is there.
package bench
