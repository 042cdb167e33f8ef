package api

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

// namespace is a small object for tests of documents.
func namespaceJSON(name string) string {
	return `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + name + `"}}`
}

func namespaceYAML(name string) string {
	return "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: " + name + "\n"
}

// where lists the objects of a result with the places where they stand.
func where(r *Result) []string {
	var out []string
	for i := range r.Objects {
		o := &r.Objects[i]
		out = append(out, fmt.Sprintf("%s@%d.%d", o.Name, o.Document, o.Item))
	}
	return out
}

// TestDocuments: every form in which manifests come.
func TestDocuments(t *testing.T) {
	a, b, c := namespaceYAML("a"), namespaceYAML("b"), namespaceYAML("c")
	ja, jb, jc := namespaceJSON("a"), namespaceJSON("b"), namespaceJSON("c")
	bare := func(name string) string { return `{"metadata":{"name":"` + name + `"}}` }
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"white space", " \n\t\n", nil},
		{"comments", "# a\n  # b", nil},
		{"a marker", "---", nil},
		{"null", "null\n", nil},
		{"one", a, []string{"a@1.0"}},
		{"several", a + "---\n" + b + "---\n" + c, []string{"a@1.0", "b@2.0", "c@3.0"}},
		{"marker first and last", "---\n" + a + "---\n" + b + "---\n", []string{"a@1.0", "b@2.0"}},
		{"empty ones between", a + "---\n\n---\n# nothing\n--- # nor here\n" + b, []string{"a@1.0", "b@2.0"}},
		{"end markers", a + "...\n---\n" + b + "...\n", []string{"a@1.0", "b@2.0"}},
		{"directives", "%YAML 1.1\n---\n" + a + "...\n%YAML 1.1\n---\n" + b, []string{"a@1.0", "b@2.0"}},
		{"content after the marker", "--- {apiVersion: v1, kind: Namespace, metadata: {name: a}}\n---\t# x\n" + b, []string{"a@1.0", "b@2.0"}},
		{"no marker", "kind: Namespace\napiVersion: v1\nmetadata:\n  name: a\n  annotations:\n    x: |\n      ----\n      --- y\n", []string{"a@1.0"}},
		{"line breaks of Windows", strings.ReplaceAll(a+"---\n"+b, "\n", "\r\n"), []string{"a@1.0", "b@2.0"}},
		{"byte order mark", "\uFEFF" + a, []string{"a@1.0"}},
		{"byte order mark and JSON", "\uFEFF" + ja, []string{"a@1.0"}},
		{"anchors", "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: &n a\n  labels: {x: *n}\n", []string{"a@1.0"}},
		{"merge key", "apiVersion: v1\nkind: Namespace\nmetadata:\n  <<: {labels: {x: z}}\n  name: a\n", []string{"a@1.0"}},

		{"JSON", ja, []string{"a@1.0"}},
		{"JSON in a row", ja + jb + "\n" + jc, []string{"a@1.0", "b@2.0", "c@3.0"}},
		{"JSON in several lines", strings.ReplaceAll(ja, ",", ",\n  "), []string{"a@1.0"}},
		{"JSON after a comment", "# made by hand\n" + ja, []string{"a@1.0"}},
		{"JSON between markers", ja + "\n---\n" + jb + "\n" + jc + "\n---\n" + namespaceYAML("d"), []string{"a@1.0", "b@2.0", "c@3.0", "d@4.0"}},
		{"array", "[" + ja + "," + jb + "]", []string{"a@1.1", "b@1.2"}},
		{"empty array", "[]", nil},
		{"array in YAML", "- " + ja + "\n- " + jb, []string{"a@1.1", "b@1.2"}},
		{"flow style", "{apiVersion: v1, kind: Namespace, metadata: {name: a}}", []string{"a@1.0"}},
		{"flow style in a list", "[{apiVersion: v1, kind: Namespace, metadata: {name: a}}]", []string{"a@1.1"}},
		{"null in an array", "[null," + ja + "]", []string{"a@1.2"}},
		{"escapes", `{"api\u0056ersion":"v1","kind":"Name\u0073pace","metadata":{"name":"\u0061"}}`, []string{"a@1.0"}},

		{"List", `{"apiVersion":"v1","kind":"List","items":[` + ja + `,` + jb + `]}`, []string{"a@1.1", "b@1.2"}},
		{"empty List", `{"apiVersion":"v1","kind":"List","items":[],"metadata":{"resourceVersion":""}}`, nil},
		{"List of null", `{"apiVersion":"v1","kind":"List","items":null}`, nil},
		{"List without items", "apiVersion: v1\nkind: List\n", nil},
		{"typed list", `{"apiVersion":"v1","kind":"NamespaceList","items":[` + bare("a") + `,` + bare("b") + `]}`, []string{"a@1.1", "b@1.2"}},
		{"typed list before its kind", `{"items":[` + bare("a") + `],"kind":"NamespaceList","apiVersion":"v1"}`, []string{"a@1.1"}},
		{"List of Lists", `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"List","items":[` + ja + `]},` + jb + `]}`, []string{"a@1.1", "b@1.2"}},
		{"List in YAML", "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Namespace\n  metadata:\n    name: a\n- " + jb + "\nkind: List\n", []string{"a@1.1", "b@1.2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := Load([]Source{{Name: "f", Data: []byte(test.text)}}, Options{})
			if len(r.Errors) > 0 || len(r.Warnings) > 0 {
				t.Fatal(r.Errors, r.Warnings)
			}
			if diff := cmp.Diff(test.want, where(r)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUTF16(t *testing.T) {
	units := utf16.Encode([]rune("\uFEFF" + namespaceYAML("a")))
	for _, high := range []int{0, 1} {
		data := make([]byte, 2*len(units))
		for i, u := range units {
			data[2*i+high], data[2*i+1-high] = byte(u), byte(u>>8)
		}
		r := Load([]Source{{Name: "f", Data: data}}, Options{})
		if diff := cmp.Diff([]string{"a@1.0"}, where(r)); diff != "" {
			t.Error(r.Errors, diff)
		}
	}
}

// TestLongLists: a long list in YAML is read in pieces, with the same result as
// in one.
func TestLongLists(t *testing.T) {
	pad := strings.Repeat("x", 2000)
	item := func(name, more string) string {
		return "- apiVersion: v1\n  kind: Namespace\n  metadata:\n    name: " + name + "\n    annotations:\n      pad: " + pad + "\n" + more
	}
	var want []string
	var items strings.Builder
	for i := range 60 {
		name := fmt.Sprintf("n%d", i)
		want = append(want, fmt.Sprintf("%s@1.%d", name, i+1))
		items.WriteString(item(name, "      text: |\n        - a\n        # b\n\n        items:\n"))
	}
	indented := "  " + strings.ReplaceAll(items.String(), "\n", "\n  ")
	for _, test := range []struct {
		name, text string
	}{
		{"as kubectl prints it", "apiVersion: v1\nitems:\n" + items.String() + "kind: List\nmetadata:\n  resourceVersion: \"\"\n"},
		{"indented", "kind: List\nitems:\n" + strings.TrimRight(indented, " ") + "apiVersion: v1\n"},
		{"with comments and empty lines", "# a\napiVersion: v1\nkind: List\nitems:   \n# b\n\n" + strings.ReplaceAll(items.String(), "- api", "\n# c\n- api")},
		{"line breaks of Windows", strings.ReplaceAll("apiVersion: v1\nkind: List\nitems:\n"+items.String(), "\n", "\r\n")},
		{"an anchor in one item and its alias in another", "apiVersion: v1\nkind: List\nitems:\n" + strings.Replace(strings.Replace(items.String(), "name: n0\n", "name: &n n0\n    labels: {x: z}\n", 1), "name: n9\n", "name: n9\n    labels: {x: *n}\n", 1)},
		{"typed", "apiVersion: v1\nkind: NamespaceList\nitems:\n" + strings.ReplaceAll(items.String(), "- apiVersion: v1\n  kind: Namespace\n", "-\n")},
	} {
		t.Run(test.name, func(t *testing.T) {
			if len(test.text) < minCut {
				t.Fatal("the text is too short to be cut")
			}
			r := Load([]Source{{Name: "f", Data: []byte(test.text)}}, Options{})
			if len(r.Errors) > 0 {
				t.Fatal(r.Errors)
			}
			if diff := cmp.Diff(want, where(r)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestLongListErrors: the line of a mistake is that of the file, in pieces or
// not.
func TestLongListErrors(t *testing.T) {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: List\nitems:\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "- apiVersion: v1\n  kind: Namespace\n  metadata:\n    name: n%d\n", i)
	}
	text := strings.Replace(b.String(), "name: n1000\n", "name: n1000\n    name: again\n", 1)
	r := Load([]Source{{Name: "f", Data: []byte(text)}}, Options{})
	if len(r.Errors) != 1 || !strings.Contains(r.Errors[0].Message, "line 4008: ") {
		t.Error(r.Errors)
	}
}

// TestIgnored: other kinds are counted.
func TestIgnored(t *testing.T) {
	r := Load([]Source{{Name: "f", Data: []byte(`
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, anything: {a: [1]}}
- {apiVersion: example.com/v1, kind: NodePool, metadata: {name: a}}
- {apiVersion: policy/v1beta1, kind: PodDisruptionBudget, metadata: {name: a}}
- {apiVersion: v1, kind: pod, metadata: {name: a}}
- {apiVersion: extensions/v1beta1, kind: Deployment, metadata: {name: a}}
`)}}, Options{})
	if len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	want := map[string]int{"v1/ConfigMap": 2, "example.com/v1/NodePool": 1, "policy/v1beta1/PodDisruptionBudget": 1, "v1/pod": 1, "extensions/v1beta1/Deployment": 1}
	if diff := cmp.Diff(want, r.Ignored); diff != "" {
		t.Error(diff)
	}
	warnings := []string{
		"f: document 1: PodDisruptionBudget/a: is ignored: policy/v1beta1 PodDisruptionBudget is not read; did you mean policy/v1 PodDisruptionBudget?",
		"f: document 1: pod/a: is ignored: v1 pod is not read; did you mean v1 Pod?",
		"f: document 1: Deployment/a: is ignored: extensions/v1beta1 Deployment is not read; did you mean apps/v1 Deployment?",
	}
	if diff := cmp.Diff(warnings, r.Warnings); diff != "" {
		t.Error(diff)
	}
}

// TestTwice: an object that stands in the input twice.
func TestTwice(t *testing.T) {
	pool := string(patched(t, validPool, ""))
	other := string(patched(t, validPool, "spec: {weight: 5}"))
	r := Load([]Source{{Name: "a", Data: []byte(pool)}, {Name: "b", Data: []byte(namespaceJSON("x") + pool)}}, Options{})
	if len(r.Errors) > 0 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "word for word as in a, document 1") || len(r.Snapshot.NodePools) != 1 {
		t.Error(r.Errors, r.Warnings)
	}
	r = Load([]Source{{Name: "a", Data: []byte("[" + pool + "]")}, {Name: "b", Data: []byte(other)}}, Options{})
	want := []Error{{File: "b", Document: 1, Object: "NodePool/default", Path: "metadata.name", Message: "the same object stands in a, document 1, item 1 with other content; keep one of the two"}}
	if diff := cmp.Diff(want, r.Errors); diff != "" {
		t.Error(diff)
	}
	// The same name in other namespaces, kinds and groups is another object; no
	// namespace is the namespace default.
	deployment := func(meta string) string {
		return `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":` + meta + `,"spec":{"serviceName":"s","replicas":0,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
	}
	r = Load([]Source{{Name: "a", Data: []byte(deployment(`{"name":"x","namespace":"a"}`) + deployment(`{"name":"x","namespace":"b"}`) + deployment(`{"name":"x"}`))}}, Options{})
	if len(r.Errors) > 0 || len(r.Objects) != 3 {
		t.Error(r.Errors, len(r.Objects))
	}
	r = Load([]Source{{Name: "a", Data: []byte(deployment(`{"name":"x"}`) + deployment(`{"name":"x","namespace":"default"}`))}}, Options{})
	if len(r.Errors) != 1 {
		t.Error(r.Errors)
	}
}

// TestReferences: a class that is named and not there, where others are.
func TestReferences(t *testing.T) {
	pool := patched(t, validPool, inTemplate("nodeClassRef: {name: defalt}"))
	r := Load([]Source{{Name: "a", Data: pool}}, Options{})
	if len(r.Warnings) > 0 {
		t.Error(r.Warnings)
	}
	r = Load([]Source{{Name: "a", Data: pool}, {Name: "b", Data: []byte(validClass)}}, Options{})
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], `is called defalt; did you mean "default"?`) {
		t.Error(r.Warnings)
	}
}

// TestTooManyErrors: a thousand are kept, the others are counted.
func TestTooManyErrors(t *testing.T) {
	r := Load([]Source{{Name: "a", Data: []byte("[" + strings.TrimSuffix(strings.Repeat("{},", 600), ",") + "]")}}, Options{})
	if len(r.Errors) != 1000 || r.MoreErrors != 200 {
		t.Errorf("have %d errors and %d more, want 1000 and 200", len(r.Errors), r.MoreErrors)
	}
}
