// Command dovetail turns manifests into a plan: which instances to launch for
// the pods that wait, what they cost, and why a pod that is left out is left
// out. It reads files and writes text; it speaks to no cluster and no account.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
