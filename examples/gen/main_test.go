package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExampleIsGenerated holds the files in the tree against the generator.
func TestExampleIsGenerated(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", "parcel", name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is not what the generator writes; run go run ./examples/gen examples/parcel. -want +got:\n%s", name, diff)
		}
		total += len(got)
	}
	if total > 1<<20 {
		t.Errorf("the example takes %d bytes, more than 1 MiB", total)
	}
}
