package catalog

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// embedded is the catalogue of a region.
func embedded(t testing.TB, region string) *Catalog {
	t.Helper()
	c, err := Embedded(region)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// byName indexes types.
func byName(types []cluster.InstanceType) map[string]*cluster.InstanceType {
	m := make(map[string]*cluster.InstanceType, len(types))
	for i := range types {
		m[types[i].Name] = &types[i]
	}
	return m
}

func TestGolden(t *testing.T) {
	data, err := os.ReadFile("testdata/golden.tsv")
	if err != nil {
		t.Fatal(err)
	}
	c := embedded(t, "us-east-1")
	types := byName(c.InstanceTypes(nil))
	// AL2023 does not start on a1; AL2 does, and has the same formulae.
	for name, it := range byName(c.InstanceTypes(&cluster.NodeClass{AMIFamily: al2})) {
		if types[name] == nil {
			types[name] = it
		}
	}
	rows := 0
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		rows++
		row := strings.Split(strings.TrimSpace(line), "\t")
		it := types[row[0]]
		if it == nil {
			t.Errorf("%s is not in the catalogue", row[0])
			continue
		}
		for i, r := range []struct {
			name string
			unit int64
		}{{cluster.Pods, 1}, {cluster.CPU, 1}, {cluster.Memory, mib}, {resourcePodENI, 1}} {
			want, err := strconv.ParseInt(row[i+1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if got := it.Allocatable.Get(r.name); got != want*r.unit {
				t.Errorf("%s: allocatable %s is %d, want %d", row[0], r.name, got, want*r.unit)
			}
		}
	}
	if rows != 1363 {
		t.Errorf("%d rows, want 1363", rows)
	}
}
