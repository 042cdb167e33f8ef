package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// outcome is what a command line comes to.
type outcome struct {
	code        int
	out, errors string
}

// command runs a command line.
func command(stdin string, args ...string) outcome {
	var out, errs strings.Builder
	code := run(args, strings.NewReader(stdin), &out, &errs)
	return outcome{code, out.String(), errs.String()}
}

const goodPool = `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements:
        - {key: kubernetes.io/os, operator: In, values: [linux]}
`

var badPool = strings.Replace(goodPool, "template:", "templte:", 1)

func TestExitCodes(t *testing.T) {
	dir := tree(t, map[string]string{
		"bad-catalog.json": `[{"name":"x"}]`,
		"config.yaml":      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"pod.yaml":         "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\nspec: {containers: [{name: c, image: i}]}\n",
	})
	pod := filepath.Join(dir, "pod.yaml")
	cases := []struct {
		name  string
		stdin string
		args  []string
		code  int
		want  string // on standard error, or on standard output when the code is 0
	}{
		{"help", "", nil, exitOK, "dovetail validate -f nodepools/"},
		{"help of a command", "", []string{"plan", "--help"}, exitOK, "--fail-on-unschedulable"},
		{"hidden flags stay hidden", "", []string{"plan", "--help"}, exitOK, "Exit codes"},
		{"version", "", []string{"version"}, exitOK, "dovetail "},
		{"no such command", "", []string{"plam"}, exitBadInput, "did you mean plan?"},
		{"no such flag", "", []string{"plan", "--files", "x"}, exitBadInput, `see "dovetail plan --help"`},
		{"an argument for a flag", "", []string{"plan", "x.yaml"}, exitBadInput, "write -f x.yaml"},
		{"nothing to plan", "", []string{"plan"}, exitBadInput, "give manifests with -f FILE"},
		{"nothing to check", "", []string{"validate"}, exitBadInput, "give manifests with -f FILE"},
		{"an output that is none", "", []string{"plan", "-f", "-", "-o", "xml"}, exitBadInput, "table, wide, json, yaml"},
		{"a validation output that is none", "", []string{"validate", "-f", "-", "-o", "wide"}, exitBadInput, "table, json"},
		{"a time that is none", "", []string{"plan", "-f", "-", "--now", "noon"}, exitBadInput, "2026-01-31T12:00:00Z"},
		{"a spread without a key", "", []string{"plan", "-f", "-", "--default-spread", ":1"}, exitBadInput, "the topology key is missing"},
		{"a spread with a wrong skew", "", []string{"plan", "-f", "-", "--default-spread", "zone:0"}, exitBadInput, "a number from 1 up"},
		{"a spread with too much", "", []string{"plan", "-f", "-", "--default-spread", "zone:1:soft"}, exitBadInput, "only hard may follow"},
		{"no such file", "", []string{"plan", "-f", filepath.Join(dir, "gone.yaml")}, exitBadInput, "gone.yaml does not exist"},
		{"an empty input", "", []string{"plan", "-f", "-"}, exitBadInput, "the input is empty: give Pods"},
		{"a pool and no pods", goodPool, []string{"plan", "-f", "-"}, exitBadInput, "the input has 1 object and no pod among them"},
		{"only what plays no part", "", []string{"plan", "-f", filepath.Join(dir, "config.yaml")}, exitBadInput, "1 v1/ConfigMap"},
		{"a pool with a mistake", badPool, []string{"plan", "-f", "-"}, exitBadInput, `did you mean "template"?`},
		{"broken YAML", "a: [", []string{"plan", "-f", "-"}, exitBadInput, "stdin"},
		{"no such catalogue", "", []string{"plan", "-f", pod, "--catalog", filepath.Join(dir, "gone.json")}, exitBadInput, "does not exist"},
		{"a folder as a catalogue", "", []string{"plan", "-f", pod, "--catalog", dir}, exitBadInput, "give one JSON file"},
		{"a catalogue with a mistake", "", []string{"plan", "-f", pod, "--catalog", filepath.Join(dir, "bad-catalog.json")}, exitBadInput, "cpuMilli"},
		{"a region that is none", "", []string{"plan", "-f", pod, "--region", "mars"}, exitBadInput, `"mars" is not the name of an AWS region`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := command(c.stdin, c.args...)
			if got.code != c.code {
				t.Errorf("exit code %d, want %d", got.code, c.code)
			}
			text, other := got.errors, got.out
			if c.code == exitOK {
				text, other = got.out, got.errors
			}
			if !strings.Contains(text, c.want) {
				t.Errorf("no %q in:\n%s", c.want, text)
			}
			if other != "" {
				t.Errorf("the other stream has:\n%s", other)
			}
			if strings.Contains(text, "goroutine ") || strings.Contains(text, "cpuprofile") {
				t.Errorf("says what a user should not see:\n%s", text)
			}
		})
	}
}

// bomb is a stream that panics, as a bug would.
type bomb struct{}

func (bomb) Read([]byte) (int, error) { panic("a value that nobody expected\nwith a second line") }

func TestABugIsOneLineAndHowToReportIt(t *testing.T) {
	var out, errs strings.Builder
	code := run([]string{"validate", "-f", "-"}, bomb{}, &out, &errs)
	if code != exitFailure {
		t.Errorf("exit code %d, want %d", code, exitFailure)
	}
	for _, want := range []string{"a bug in dovetail, not in your input: a value that nobody expected (", "bomb.Read, run_test.go:", "Please report it"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("no %q in:\n%s", want, errs.String())
		}
	}
	if n := strings.Count(errs.String(), "\n"); n != 2 {
		t.Errorf("%d lines, want 2:\n%s", n, errs.String())
	}
}

func TestValidate(t *testing.T) {
	cases := []struct {
		name, stdin string
		code        int
		want        []string
	}{
		{"valid", goodPool, exitOK, []string{"valid: 1 NodePool\n"}},
		{"invalid", badPool, exitBadInput, []string{"error    stdin: ", `NodePool/general: spec.templte: unknown field; did you mean "template"?`, "invalid: 1 error in 1 object\n"}},
		{"of no concern", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", exitOK, []string{"valid: there is nothing to check in the input", "1 v1/ConfigMap"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := command(c.stdin, "validate", "-f", "-")
			if got.code != c.code {
				t.Errorf("exit code %d, want %d", got.code, c.code)
			}
			for _, want := range c.want {
				if !strings.Contains(got.out, want) {
					t.Errorf("no %q in:\n%s", want, got.out)
				}
			}
		})
	}
}

// validation is the document of `dovetail validate -o json`.
type validation struct {
	Valid  *bool
	Errors []map[string]any
	// Objects as defaulted.
	Objects []map[string]any
}

func TestValidateDocument(t *testing.T) {
	decode := func(text string) validation {
		t.Helper()
		var v validation
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
		if v.Valid == nil || v.Errors == nil || v.Objects == nil {
			t.Fatalf("valid, errors or objects is missing in:\n%s", text)
		}
		return v
	}
	good := command(goodPool, "validate", "-f", "-", "-o", "json")
	v := decode(good.out)
	if good.code != exitOK || !*v.Valid || len(v.Errors) != 0 || len(v.Objects) != 1 {
		t.Fatalf("exit code %d and %+v for a valid pool", good.code, v)
	}
	spec, _ := v.Objects[0]["spec"].(map[string]any)
	if diff := cmp.Diff(map[string]any{"consolidateAfter": "0s", "consolidationPolicy": "WhenEmptyOrUnderutilized", "budgets": []any{map[string]any{"nodes": "10%"}}}, spec["disruption"]); diff != "" {
		t.Errorf("the defaults of spec.disruption. -want +got:\n%s", diff)
	}
	bad := command(badPool, "validate", "-f", "-", "-o", "json")
	v = decode(bad.out)
	if bad.code != exitBadInput || *v.Valid || len(v.Errors) != 1 {
		t.Fatalf("exit code %d and %+v for a pool with a mistake", bad.code, v)
	}
	for field, want := range map[string]string{"file": "stdin", "object": "NodePool/general", "path": "spec.templte"} {
		if v.Errors[0][field] != want {
			t.Errorf("%s is %v, want %q", field, v.Errors[0][field], want)
		}
	}
	if message, _ := v.Errors[0]["message"].(string); message == "" {
		t.Error("the error has no message")
	}
	empty := command("", "validate", "-f", "-", "-o", "json")
	if v := decode(empty.out); empty.code != exitOK || !*v.Valid {
		t.Errorf("exit code %d and %+v for an empty input", empty.code, v)
	}
}
