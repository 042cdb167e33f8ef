package main

import (
	"bufio"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// emit writes a value as YAML.
func emit(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	w := bufio.NewWriter(&b)
	if err := appendYAML(w, raw, 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAppendYAML(t *testing.T) {
	type object = map[string]any
	cases := []struct {
		name string
		v    any
		want string
	}{
		{"scalars", object{"a": "x", "b": 1.5, "c": true, "d": nil, "e": ""}, "a: x\nb: 1.5\nc: true\nd: null\ne: \"\"\n"},
		{"maps in maps", object{"a": object{"b": object{"c": "d"}}, "e": object{}}, "a:\n  b:\n    c: d\ne: {}\n"},
		{"lists", object{"a": []any{"x", object{"b": 1, "c": 2}, []any{"w", []any{}}}, "z": []any{}}, "a:\n- x\n- b: 1\n  c: 2\n- - w\n  - []\nz: []\n"},
		{"a list alone", []any{object{"a": []any{"b"}}, object{}}, "- a:\n  - b\n- {}\n"},
		{"strings that would be something else", []any{"yes", "1", "1e3", "-", "a: b", "a:b", "a #b", "#", "x:", "5Gi"}, "- \"yes\"\n- \"1\"\n- \"1e3\"\n- \"-\"\n- \"a: b\"\n- a:b\n- \"a #b\"\n- \"#\"\n- \"x:\"\n- \"5Gi\"\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, emit(t, c.v)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// FuzzAppendYAML holds the emitter against a parser: whatever goes in comes out.
func FuzzAppendYAML(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"c: d"}],"e":{}}`, `["null","~","0x1","2026-01-31","\u2028","é","a\tb","\u007f\u0085\ufeff"]`, `[[[]],{"":[{}]}]`, `"x"`, `{"a`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var want any
		if json.Unmarshal([]byte(raw), &want) != nil {
			return
		}
		text := emit(t, want)
		back, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatalf("%v in:\n%s", err, text)
		}
		var got any
		if err := json.Unmarshal(back, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-want +got:\n%s\n%s", diff, text)
		}
	})
}
