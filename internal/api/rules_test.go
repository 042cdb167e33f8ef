package api

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// ruleCase is a change to a valid manifest and what comes of it.
type ruleCase struct {
	name  string
	patch string // YAML, merged into the valid manifest; null takes a field out
	path  string // of the error; "" when the manifest is accepted
	says  string // part of the error's message, or of the warning when path is "" and warn is set
	warn  bool
}

// checkRules runs cases against a valid manifest.
func checkRules(t *testing.T, valid string, cases []ruleCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := Load([]Source{{Name: "test.yaml", Data: patched(t, valid, c.patch)}}, Options{})
			switch {
			case c.warn:
				if len(r.Errors) > 0 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], c.path) || !strings.Contains(r.Warnings[0], c.says) {
					t.Errorf("want one warning of %q that says %q, have errors %v and warnings %q", c.path, c.says, r.Errors, r.Warnings)
				}
			case c.path == "":
				if len(r.Errors) > 0 {
					t.Errorf("want it accepted, have %v", r.Errors)
				}
			case len(r.Errors) == 0:
				t.Errorf("want an error at %s, have none", c.path)
			case r.Errors[0].Path != c.path || !strings.Contains(r.Errors[0].Message, c.says):
				t.Errorf("want an error at %s that says %q, have %v", c.path, c.says, r.Errors)
			case len(r.Errors) > 1:
				t.Errorf("want one error, have %v", r.Errors)
			}
		})
	}
}

// patched merges a patch into a manifest.
func patched(t *testing.T, valid, patch string) []byte {
	t.Helper()
	var base, change map[string]any
	for text, into := range map[string]*map[string]any{valid: &base, patch: &change} {
		if err := yaml.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	merge(base, change)
	out, err := json.Marshal(base)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func merge(base, change map[string]any) {
	for k, v := range change {
		part, isMap := v.(map[string]any)
		old, wasMap := base[k].(map[string]any)
		switch {
		case v == nil:
			delete(base, k)
		case isMap && wasMap && len(part) > 0:
			merge(old, part)
		case isMap:
			base[k] = maps.Clone(part)
		default:
			base[k] = v
		}
	}
}

// many writes n elements as a YAML flow list.
func many(n int, element string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(element+", ", n), ", ") + "]"
}
