package api

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestMessages: what a user reads, a line a mistake.
func TestMessages(t *testing.T) {
	data, err := os.ReadFile("testdata/mistakes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r := Load([]Source{{Name: "mistakes.yaml", Data: data}}, Options{})
	var b strings.Builder
	for _, e := range r.Errors {
		b.WriteString(e.Error() + "\n")
	}
	for _, w := range r.Warnings {
		b.WriteString("warning: " + w + "\n")
	}
	if *update {
		if err := os.WriteFile("testdata/mistakes.golden", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/mistakes.golden")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
}
