// Command gen writes the example workload of a parcel carrier's cluster, as
// `kubectl get -o yaml` would print it. It is deterministic: two runs write the
// same bytes, and a test holds the files in the tree against it.
//
//	go run ./examples/gen examples/parcel
//
// The NodePools beside its files are written by hand, as users write theirs.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./examples/gen FOLDER")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// write puts the generated files into a folder.
func write(dir string) error {
	files, err := generate()
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate makes the files by their names.
func generate() (map[string][]byte, error) {
	out := make(map[string][]byte)
	for name, objects := range map[string][]runtime.Object{
		"cluster.yaml": clusterObjects(),
		"storage.yaml": storageObjects(),
		"pods.yaml":    podObjects(),
	} {
		data, err := printList(objects)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = data
	}
	return out, nil
}

// printList prints objects as kubectl prints what it got: one List, keys in
// alphabetical order.
func printList(objects []runtime.Object) ([]byte, error) {
	items := make([]any, len(objects))
	for i, o := range objects {
		data, err := json.Marshal(o)
		if err != nil {
			return nil, err
		}
		var item map[string]any
		if err := json.Unmarshal(data, &item); err != nil {
			return nil, err
		}
		prune(item)
		items[i] = item
	}
	data, err := yaml.Marshal(map[string]any{
		"apiVersion": "v1",
		"kind":       "List",
		"items":      items,
		"metadata":   map[string]any{"resourceVersion": ""},
	})
	return bytes.TrimLeft(data, "\n"), err
}

// prune takes out what the Go types print and an API server does not: empty
// status, absent times.
func prune(m map[string]any) {
	for k, v := range m {
		switch v := v.(type) {
		case nil:
			delete(m, k)
		case map[string]any:
			prune(v)
			if len(v) == 0 && (k == "status" || k == "resources" || k == "strategy" || k == "updateStrategy") {
				delete(m, k)
			}
		case []any:
			for _, e := range v {
				if e, ok := e.(map[string]any); ok {
					prune(e)
				}
			}
		}
	}
}

// now is when the cluster was looked at.
var now = time.Date(2026, 2, 3, 9, 30, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

// uid makes an identifier of a name: the same one every time.
func uid(parts ...string) types.UID {
	h := sha256.Sum256(fmt.Append(nil, parts))
	h[6], h[8] = h[6]&0x0f|0x40, h[8]&0x3f|0x80
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16]))
}

// suffix makes the letters that Kubernetes puts behind a generated name.
func suffix(n int, parts ...string) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	h := sha256.Sum256(fmt.Append(nil, "suffix", parts))
	out := make([]byte, n)
	for i := range out {
		out[i] = letters[int(h[i])%len(letters)]
	}
	return string(out)
}

// meta is what an API server keeps of an object beside its content.
func meta(kind, namespace, name string, age time.Duration) metav1.ObjectMeta {
	id := uid(kind, namespace, name)
	return metav1.ObjectMeta{
		Name: name, Namespace: namespace, UID: id, CreationTimestamp: ago(age),
		ResourceVersion: fmt.Sprint(40_000_000 + int(id[0])*7919 + int(id[1])*104_729),
	}
}

// managed is a short form of what server-side apply notes down.
func managed(manager, apiVersion, fields string, age time.Duration) metav1.ManagedFieldsEntry {
	at := ago(age)
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: apiVersion, Time: &at,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}
