package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dovetail-sh/dovetail/internal/catalog"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"instance_types.jsonl":   `{"name":"m5.large","arch":"amd64","vcpus":2,"memory_mib":8192}`,
		"ondemand_prices.json":   `{"prices":{"us-east-1":{"m5.large":0.096}}}`,
		"zones.csv":              "region,instance_type,zones,zone_ids\nus-east-1,m5.large,a,use1-az2\n",
		"spot_advisor_linux.csv": "region,instance_type,savings_percent,interruption_bucket\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "table.bin")
	if err := run([]string{"-from", dir, "-stamp", "of a test", "-out", out}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	table, err := catalog.Decode(data)
	if err != nil || len(table.Types) != 1 || table.Stamp != "of a test" {
		t.Errorf("%+v, %v", table, err)
	}
	for _, args := range [][]string{nil, {"-from", dir}, {"-from", dir, "-stamp", "s", "-out", out, "more"}} {
		if err := run(args); err == nil || !strings.Contains(err.Error(), "CATALOG_FACTS") {
			t.Errorf("%q: %v", args, err)
		}
	}
}
