package api

import (
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// FuzzLoad: no input makes Load panic, and the same input gives the same result.
func FuzzLoad(f *testing.F) {
	mistakes, err := os.ReadFile("testdata/mistakes.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		validPool, validClass, validClaim, validOverlay, validOverlay + "---" + validOverlay, flatInput, string(mistakes), namespaceJSON("a") + namespaceYAML("b"),
		`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"100m"}}}]}}]}`,
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  replicas: 2\n  selector: {matchLabels: {a: b}}\n  template:\n    metadata: {labels: {a: b}}\n    spec: {containers: [{name: c, image: i}]}\n",
		"[[[{}]]]", "{\"a\":\"\\ud800\"}", "--- |\n a\n...\n%YAML 1.1\n---\n- *a",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first, second := Load([]Source{{Name: "f", Data: data}}, Options{}), Load([]Source{{Name: "f", Data: data}}, Options{})
		if len(first.Errors) != len(second.Errors) || len(first.Objects) != len(second.Objects) || len(first.Warnings) != len(second.Warnings) {
			t.Fatal("two loads of the same input differ")
		}
		for i := range first.Errors {
			if first.Errors[i] != second.Errors[i] {
				t.Fatalf("two loads of the same input differ: %v and %v", first.Errors[i], second.Errors[i])
			}
			_ = first.Errors[i].Error()
		}
	})
}

// FuzzDecode: whatever is decoded strictly is JSON, and what is not is refused.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"a","labels":{"a":"b"}},"spec":{"containers":[{"name":"c","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":1.5}}}],"nodeSelector":{}},"status":{"x":1}}`))
	f.Add([]byte(`{"spec":{"tolerations":[{"tolerationSeconds":5e0}],"priority":-1,"hostNetwork":true,"terminationGracePeriodSeconds":9223372036854775807}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		rep := &reporter{}
		var pod corev1.Pod
		s := scanner{data: data}
		valid := s.skip() && s.peek() == 0
		if decodeStrict(data, &pod, rep) && !valid {
			t.Fatalf("%q is not JSON and was decoded", data)
		}
	})
}
