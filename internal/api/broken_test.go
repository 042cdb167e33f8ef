package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// TestBroken: text that cannot be read is reported with its line, and what
// stands around it is read all the same.
func TestBroken(t *testing.T) {
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		this, last := string(rune('b'+i)), string(rune('a'+i))
		bomb += this + ": &" + this + " [" + strings.TrimSuffix(strings.Repeat("*"+last+",", 10), ",") + "]\n"
	}
	long := "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 100) + "]\n"
	for _, c := range []struct{ name, text, says string }{
		{"JSON cut off", `{"apiVersion":"v1",`, "line 1, column 20: is not valid JSON: the text ends where a key in double quotes is due"},
		{"JSON with a comma too many", "{\n \"apiVersion\": \"v1\",\n}", "line 3, column 1: is not valid JSON: a comma stands before '}'"},
		{"JSON without a comma", "{\"a\":1\n\"b\":2}", `line 2, column 1: is not valid JSON: '"' stands where a comma or '}' is due`},
		{"JSON without a colon", `{"a" 1}`, "stands where a colon is due"},
		{"JSON with a bare word", `{"a":yes}`, "'y' stands where a value is due"},
		{"JSON with a number of another language", `{"a":0x10}`, "stands where a comma or '}' is due"},
		{"JSON with a number that begins with 0", `{"a":010}`, "a number begins with 0"},
		{"JSON with a point and nothing after it", `{"a":1.}`, "a digit is due"},
		{"JSON with an open string", `{"a":"b}`, "a string is not closed"},
		{"JSON with a broken line", "{\"a\":\"b\nc\"}", "line break or control character"},
		{"JSON with an unknown escape", `{"a":"\x"}`, "an escape that JSON does not know"},
		{"JSON with a broken escape", `{"a":"\u12G4"}`, "an escape that JSON does not know"},
		{"JSON and something after it", namespaceJSON("a") + " x", "'x' stands where a value is due"},
		{"deep JSON", deep, "nest deeper than 1000"},
		{"deep YAML", "a: " + deep, "nest deeper than"},
		{"deep flow style in a kind that is ignored", "apiVersion: v1\nkind: ConfigMap\na: " + deep, "nest deeper than"},
		{"lists of lists", strings.Repeat("[", 10) + strings.Repeat("]", 10), "lists of lists nest deeper than 8"},
		{"YAML", "a: b\nc d\n", "is not valid YAML"},
		{"YAML with an unknown alias", "a: *b\n", "unknown anchor 'b'"},
		{"YAML with a key twice", "a: 1\nb:\n  c: 1\n  c: 2\n", `line 4: is not valid YAML: the key "c" stands here twice`},
		{"YAML with one key in two types", "1: a\n'1': b\n", `the key "1" stands twice`},
		{"YAML with a list as a key", "? [a]\n: b\n", "is not valid YAML"},
		{"YAML that is no number", "a: .nan\n", "not a number"},
		{"YAML bomb", bomb, "is not valid YAML"},
		{"YAML that grows by its aliases", long, "grows by its aliases"},
		{"not UTF-8", "a: b\nc: \xff\n", "line 2: is not text in UTF-8"},
		{"a text", "hello", "is a string, not a Kubernetes object"},
		{"a number", "5", "is a number, not a Kubernetes object"},
		{"texts in a list", "- a", "is a string, not a Kubernetes object"},
		{"no kind", "metadata: {name: a}", "is missing"},
		{"kind that is no text", "apiVersion: v1\nkind: 5\n", "must be strings"},
		{"empty version", "apiVersion: ''\nkind: Pod\n", "must be strings"},
		{"no kind in a List", "apiVersion: v1\nkind: List\nitems: [{metadata: {name: a}}]", "is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Load([]Source{{Name: "f", Data: []byte(c.text)}}, Options{})
			if len(r.Errors) == 0 || !strings.Contains(r.Errors[0].Message, c.says) {
				t.Fatalf("want an error that says %q, have %v", c.says, r.Errors)
			}
			if c.name == "not UTF-8" {
				return // it is the whole source that cannot be read
			}
			r = Load([]Source{{Name: "f", Data: []byte(namespaceYAML("before") + "---\n" + c.text + "\n---\n" + namespaceYAML("after"))}}, Options{})
			if len(r.Errors) == 0 || len(r.Snapshot.Namespaces) < 2 {
				t.Errorf("what stands around it was not read: %v", where(r))
			}
		})
	}
}

// TestLines: the lines of mistakes count from the beginning of the source.
func TestLines(t *testing.T) {
	r := Load([]Source{{Name: "f", Data: []byte("# one\n---\n" + namespaceYAML("a") + "---\n\n{\"a\":\n  x}\n---\na: b: c\n")}}, Options{})
	if len(r.Errors) != 2 ||
		!strings.HasPrefix(r.Errors[0].Error(), "f: document 2: line 10, column 3: is not valid JSON") ||
		!strings.HasPrefix(r.Errors[1].Error(), "f: document 3: line 12: is not valid YAML") {
		t.Error(r.Errors)
	}
}

// TestQuantityMends: what is meant by quantities that people write.
func TestQuantityMends(t *testing.T) {
	for in, want := range map[string]string{
		"100GB": "100G", "100gb": "100G", "100 Gi": "100Gi", "100gi": "100Gi", "2 cores": "2", "500MiB": "500Mi", "2vCPU": "2", "10KB": "10k",
		"lots": "", "Gi": "", "": "", "1.2.3Gi": "", "--1": "",
	} {
		if got := mendQuantity(in); got != want {
			t.Errorf("mendQuantity(%q) = %q, want %q", in, got, want)
		}
		if _, problem := parseQuantity(in); problem == "" || want != "" && !strings.Contains(problem, `"`+want+`"`) {
			t.Errorf("parseQuantity(%q) says %q", in, problem)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"budgets", "consolidateAfter", "consolidationPolicy", "labels", "limits", "nodeClassRef", "requirements", "weight"}
	for in, want := range map[string]string{
		"wieght": "weight", "label": "labels", "Limits": "limits", "LIMITS": "limits", "nodeclassref": "nodeClassRef", "nodeClass": "nodeClassRef",
		"requirement": "requirements", "requierments": "requirements", "budget": "budgets", "consolidatAfter": "consolidateAfter",
		"colour": "", "x": "", "": "", "spec": "",
	} {
		if got := nearest(in, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestLimits: what is too much is refused with the limit.
func TestLimits(t *testing.T) {
	if _, problem := plainText(make([]byte, 3<<20), 2<<20); !strings.Contains(problem, "is 3 MiB long; the most is 2 MiB") {
		t.Error(problem)
	}
	l := newLoader(Options{})
	l.most = 3
	for _, name := range []string{"f", "g"} {
		l.source(Source{Name: name, Data: []byte("[" + strings.Join([]string{namespaceJSON(name + "1"), namespaceJSON(name + "2"), namespaceJSON(name + "3"), namespaceJSON(name + "4")}, ",") + "]")})
	}
	r := l.finish()
	if len(r.Objects) != 3 || len(r.Errors) != 1 || !strings.Contains(r.Errors[0].Error(), "f: document 1: Namespace/f4: the input has more than 3 objects") {
		t.Error(r.Errors, where(r))
	}
}

// TestManyMistakes: files of nothing but mistakes, and files that a parser reads
// slowly. Each is so long that it would not end, or fill the memory, if the work
// grew faster than the file; the errors stay few.
func TestManyMistakes(t *testing.T) {
	numbered := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	labels := "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: a\n  labels:\n" + numbered("    k%d: 1\n", 200_000)
	for _, c := range []struct {
		name, text, first, last string
		errors, more            int
	}{
		{"one key", strings.Repeat("a: b\n", 1_000_000), `line 2: is not valid YAML: the key "a" stands here twice; keep one`, "999899 more mistakes like these", 101, 0},
		{"one key, flow style", "a: {" + strings.Repeat("b: c,\n", 100_000) + "}", `line 2: is not valid YAML: the key "b" stands here twice`, "99899 more mistakes", 101, 0},
		{"one key, by an alias", "x: &a " + strings.Repeat("v", 1<<20) + "\ny:\n" + strings.Repeat("  *a : b\n", 100_000), "the alias *a stands for a key", "write the key itself", 1, 0},
		{"one key in each of many items", "kind: List\napiVersion: v1\nitems:\n" + strings.Repeat("- a: b\n  a: c\n", 200_000), `line 5: is not valid YAML: the key "a"`, "more mistakes", 101, 0},
		{"wrong types in one object", labels, "k0: must be a string", "k999: must be a string", 1000, 199_001}, // spec is missing as well
		{"objects that are none", strings.Repeat("{}", 400_000), "kind: is missing", "apiVersion: is missing", 1000, maxMistakes - maxErrors},
		{"documents that are none", strings.Repeat("a: b: c\n---\n", 120_000), "is not valid YAML", "is not valid YAML", 1000, maxMistakes - maxErrors},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Load([]Source{{Name: "f", Data: []byte(c.text)}}, Options{})
			if len(r.Errors) != c.errors || r.MoreErrors != c.more {
				t.Fatalf("have %d errors and %d more, want %d and %d", len(r.Errors), r.MoreErrors, c.errors, c.more)
			}
			if first, last := r.Errors[0].Error(), r.Errors[len(r.Errors)-1].Error(); !strings.Contains(first, c.first) || !strings.Contains(last, c.last) {
				t.Errorf("the first error is %s\nthe last one is %s", first, last)
			}
		})
	}
}

// TestDuplicateKeys: each key that stands twice is told with its own line.
func TestDuplicateKeys(t *testing.T) {
	r := Load([]Source{{Name: "f", Data: []byte("# one\n---\na: 1\nb:\n  c:\n    d: 1\n  c:\n    e: 1\n\na:\n- f: 1\n  f: 2\n")}}, Options{})
	var lines []string
	for _, e := range r.Errors {
		line, _, _ := strings.Cut(e.Message, ":")
		lines = append(lines, line)
	}
	if got := strings.Join(lines, ", "); got != "line 7, line 10, line 12" {
		t.Errorf("told are %s: %v", got, r.Errors)
	}
}

// TestAliasAsKey: a short document may have one, and a star in a text is none.
func TestAliasAsKey(t *testing.T) {
	for text, want := range map[string]string{
		"a: &n b\n*n : c\n":               "n",
		"a: &n b\n? *n\n: c\n":            "n",
		"a: &n b\nc: {*n : d}\n":          "n",
		"a: &n b\nc: *n\n":                "",
		"a: &n b\nc: '*.example.com:1'\n": "",
		"a: b * c: &\n":                   "",
	} {
		if got := aliasAsKey([]byte(text)); got != want {
			t.Errorf("aliasAsKey(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestLongValueLists: two long lists of values are compared in the time that it
// takes to read them.
func TestLongValueLists(t *testing.T) {
	values := make([]string, 200_000)
	for i := range values {
		values[i] = fmt.Sprintf("v%d", i)
	}
	left := everything()
	for _, op := range []cluster.Operator{cluster.In, cluster.In, cluster.NotIn} {
		left.add(&cluster.Requirement{Key: "a", Operator: op, Values: values})
	}
	if !left.empty() {
		t.Error("what is both listed and excluded is left")
	}
}

// TestHugeObject: an object that no API server takes is not decoded.
func TestHugeObject(t *testing.T) {
	text := "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata:\n  name: a\nspec:\n" + strings.Repeat("  # \n", 10) + "  x: " + strings.Repeat("v", maxObject) + "\n---\n" + namespaceYAML("after")
	r := Load([]Source{{Name: "f", Data: []byte(text)}}, Options{})
	if len(r.Errors) != 1 || !strings.Contains(r.Errors[0].Error(), "NodePool/a: is 16 MiB long") || len(r.Objects) != 1 {
		t.Error(r.Errors, where(r))
	}
}
