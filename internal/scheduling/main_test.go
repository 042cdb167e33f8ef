package scheduling_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain makes the property tests look at the same cases each time and write
// nothing into the tree. -rapid.seed=0 looks at others.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"rapid.seed": "1", "rapid.checks": "1000", "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
