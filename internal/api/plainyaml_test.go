package api

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// plainSamples are documents in the forms that plainToJSON takes, and forms near
// to them that it must not misunderstand.
var plainSamples = []string{
	"a: b\n", "a:\n  b: c\n  d: e\nf: g\n", "a:\n- b\n- c\nd: e\n", "a:\n  - b\n  -   c\n", "- a\n- b: c\n  d: e\n-\n  f: g\n- - h\n  - i\n-\n- \n",
	"a: 1\nb: -5\nc: 1.5\nd: 0x1F\ne: 010\nf: 1e3\ng: 1_000\nh: +5\ni: .5\nj: -0\nk: 0\nl: 0.0\nm: 12345678901234567890\nn: 1.\no: 08\n",
	"a: true\nb: yes\nc: n\nd: ~\ne: null\nf: Off\ng: oN\nh: nuLL\ni: nope\n",
	"a: 100m\nb: 1Gi\nc: 10.0.0.1\nd: 2026-01-01T00:00:00Z\ne: 2026-01-01\nf: --flag\ng: -c\nh: 1e\ni: 0b101\nj: 0o7\nk: 12:30:45\nl: 1,000\n",
	"a: \"b\"\nc: 'd'\ne: 'it''s'\nf: \"x\\ny\\\"z\\\\\"\ng: \"\\u0041\"\nh: \"\"\ni: ''\n\"j\": k\n'l m': n\n",
	"a: b # c\n# d\ne: # f\n  g: h\ni: j#k\nl: 'm' # n\no: 'p'# q\n",
	"a: |\n  b\n  c\nd: e\n", "a: |-\n  b\n\n  c\n\nd: e\n", "a: |+\n  b\n\n\nd: e\n", "a: |\n   b\n    c\n   # d\n\te\nf: g\n", "a:\n- |\n  b\n- c\n", "a: |\n\n  b\n", "a: |\n  b", "a: |\n", "a: |2\n   b\n", "a: >\n  b\n  c\n", "a: |\n  b\n \n  c\n", "a: |\n  b\n      \n", "|\n a\n",
	"a: []\nb: {}\nc: [] # d\ne: [f]\ng: {h: i}\n", "a: b\n  c\n", "a: b\n\n  c: d\n", "a:\n b: c\n  d: e\n", "a: b: c\n", "a: b:\n", "a:b\n", "a : b\n", "a: &b c\nd: *b\n", "<<: {a: b}\n", "? a\n: b\n", "!!str a: b\n",
	"a:\r\n  b: c\r\n- d\r\n", "a: |\r\n  b\r\n  c\r\n", "a: b\rc\n", "a:\tb\n", "a: b\t\n", "\ta: b\n", "a: b\n\t\n", "a: \"b\n  c\"\n", "a: 'b\n\n  c'\n", "a: b\nc\n", "a\n", "\"a\"\n", "a\nb\n", "5\n", "- 5", "a: b\na: c\n", "1: a\n", "true: a\n", "'1': a\n1: b\n",
	"a: ü\u2028b\n", "a: b\u0085c\n", "\uFEFFa: b\n", "a: \x7f\n", "a: €\nö: 1\n", "a: -\n", "a: - b\n", "- -\n", "-a: b\n", "- a: |\n    b\n  c: d\n", "a: @b\n", "a: %b\n", "a: `b`\n", "a: =\n", "a: ?b\n", "a: :b\n", "a: .\n", "a: ..\n", "a: ...\n", "a: ~b\n",
	"a:\n  - b\n c: d\n", "a:\n- b\n  - c\n", "- a\n b: c\n", "a:\n    b: c\n  d: e\n", "  a: b\n  c: d\n", " a: b\nc: d\n", "a:\n# c\n  b: c\n    # d\n", "a: \n", "a:  \n  b\n", "a: b \n", "- a \n", "a: 'b'c\n", "a: \"b\" c\n", "\"a\" : b\n", "\"a\":b\n", "a:\n  \"b\"\n", "a:\n  b\nc: d\n", "a: #\n", "-#a\n", "a: '#'\n", "a#: b\n",
}

// compare checks that what plainToJSON makes of a text is what the parser for
// all of YAML makes of it.
func compare(t *testing.T, text []byte) (converted bool) {
	t.Helper()
	got, twice, ok := plainToJSON(text)
	if !ok {
		return false
	}
	want, problems := libraryToJSON(text, 64<<20)
	if len(twice) > 0 {
		if len(problems) == 0 {
			t.Fatalf("%q is refused for %v, and taken by the parser as %s", text, twice, want)
		}
		return false
	}
	if len(problems) > 0 {
		t.Fatalf("%q is %s, and is refused by the parser: %v", text, got, problems)
	}
	if diff := cmp.Diff(decoded(t, want), decoded(t, got)); diff != "" {
		t.Fatalf("%q is %s and not %s\n%s", text, got, want, diff)
	}
	return true
}

// decoded reads JSON with its numbers as they are written.
func decoded(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

func TestPlainYAML(t *testing.T) {
	converted := 0
	for _, text := range plainSamples {
		if compare(t, []byte(text)) {
			converted++
		}
	}
	if converted < 30 {
		t.Errorf("%d of %d samples were converted: the fast way has been lost", converted, len(plainSamples))
	}
}

// TestPlainYAMLTakes: what kubectl prints goes the fast way.
func TestPlainYAMLTakes(t *testing.T) {
	const text = `apiVersion: v1
items:
- apiVersion: v1
  kind: Pod
  metadata:
    annotations:
      kubectl.kubernetes.io/last-applied-configuration: |
        {"apiVersion":"v1","kind":"Pod"}
    creationTimestamp: "2026-01-01T00:00:00Z"
    labels:
      app.kubernetes.io/name: web
    name: web-1
  spec:
    containers:
    - args:
      - --port=80
      - -v
      command: ["sh"]
      image: nginx:1.27@sha256:0a
      resources:
        requests:
          cpu: 100m
          memory: "0.5"
      securityContext: {}
    tolerations: []
    volumes: null
kind: List
metadata:
  resourceVersion: ""
`
	for _, c := range []struct {
		text string
		want bool
	}{{strings.Replace(text, `["sh"]`, "sh", 1), true}, {text, false}} {
		if got := compare(t, []byte(c.text)); got != c.want {
			t.Errorf("converted is %v, want %v", got, c.want)
		}
	}
}

// TestPlainYAMLRoundTrip: what is printed as YAML is read as it was, whatever
// the strings.
func TestPlainYAMLRoundTrip(t *testing.T) {
	text := rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z0-9._/-]{0,12}`),
		rapid.StringMatching(`[ -~\t\n]{0,20}`),
		rapid.String(),
		rapid.SampledFrom([]string{"yes", "null", "~", "010", "1e3", "0x1f", "1_0", "2026-01-01", ".5", "-", "- a", "a: b", "a #b", "|", "a\nb\n", "\n a", "a\n\n", " a", "a ", "---", "..."}),
	)
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		leaves := []*rapid.Generator[any]{text.AsAny(), rapid.Int64().AsAny(), rapid.Bool().AsAny(), rapid.Float64Range(-1e6, 1e6).AsAny(), rapid.Just[any](nil)}
		if depth == 0 {
			return rapid.OneOf(leaves...)
		}
		below := rapid.Deferred(func() *rapid.Generator[any] { return value(depth - 1) })
		return rapid.OneOf(append(leaves, rapid.MapOfN(text, below, 0, 4).AsAny(), rapid.SliceOfN(below, 0, 4).AsAny())...)
	}
	rapid.Check(t, func(rt *rapid.T) {
		in := value(4).Draw(rt, "value")
		printed, err := yaml.Marshal(in)
		if err != nil {
			return
		}
		if _, problem := plainText(printed, maxSource); problem != "" {
			return
		}
		compare(t, printed)
	})
}

func FuzzPlainYAML(f *testing.F) {
	for _, text := range plainSamples {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if plain, problem := plainText(text, maxSource); problem == "" {
			compare(t, plain)
		}
	})
}
