// Package agreement holds plans, and the naive checker that judges them in the
// other tests, against kube-scheduler itself: its filter plugins run in process
// over the nodes and pods of a plan, and must admit each pod where the plan puts
// it.
//
// It is a module of its own, because it links k8s.io/kubernetes: building it the
// first time takes some minutes.
//
//	cd test/agreement && go test ./...
package agreement
