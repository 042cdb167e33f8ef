package api

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// readCore converts YAML documents of core kinds, as Load would after it has
// taken them apart.
func readCore(t testing.TB, manifests ...string) (*cluster.Snapshot, *reporter) {
	t.Helper()
	rep := &reporter{}
	var acc coreAccumulator
	for i, doc := range strings.Split(strings.Join(manifests, "\n---\n"), "\n---\n") {
		if strings.TrimSpace(doc) == "" {
			continue
		}
		raw, err := yaml.YAMLToJSON([]byte(doc))
		if err != nil {
			t.Fatalf("document %d: %v\n%s", i+1, err, doc)
		}
		feed(raw, i+1, rep, &acc)
	}
	snap := &cluster.Snapshot{}
	acc.finish(snap, rep)
	return snap, rep
}

// feed converts one object.
func feed(raw []byte, document int, rep *reporter, acc *coreAccumulator) {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
	}
	if err := yaml.Unmarshal(raw, &head); err != nil {
		return
	}
	o := Object{
		File: "test.yaml", Document: document,
		APIVersion: head.APIVersion, Kind: head.Kind,
		Namespace: head.Metadata.Namespace, Name: head.Metadata.Name, Raw: raw,
	}
	namespaced, ok := coreKinds[o.APIVersion+"/"+o.Kind]
	switch {
	case !ok:
		return
	case namespaced && o.Namespace == "":
		o.Namespace = "default"
	case !namespaced:
		o.Namespace = ""
	}
	rep.at(&o)
	convertCore(o, rep, acc)
}

// mustReadCore is readCore for input without mistakes.
func mustReadCore(t testing.TB, manifests ...string) *cluster.Snapshot {
	t.Helper()
	snap, rep := readCore(t, manifests...)
	for _, e := range rep.errors {
		t.Errorf("unexpected error: %v", e)
	}
	return snap
}

// onlyPod returns the one pod of a snapshot.
func onlyPod(t testing.TB, snap *cluster.Snapshot) *cluster.Pod {
	t.Helper()
	if len(snap.Pods) != 1 {
		t.Fatalf("got %d pods, want 1", len(snap.Pods))
	}
	return &snap.Pods[0]
}

// podYAML is a pod with a spec; lines of the spec are indented by two.
func podYAML(name, spec string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", labels: {app: web, tier: front}}\nspec:\n" + indent(spec, 2)
}

// indent moves text to the right.
func indent(text string, by int) string {
	pad := strings.Repeat(" ", by)
	return pad + strings.ReplaceAll(strings.Trim(text, "\n"), "\n", "\n"+pad) + "\n"
}

// oneContainer is the least spec that a pod can have.
const oneContainer = "containers: [{name: c}]\n"

// messages lists errors as path: message.
func messages(rep *reporter) []string {
	var out []string
	for _, e := range rep.errors {
		out = append(out, e.Path+": "+e.Message)
	}
	return out
}

// keysOf lists the pods of a snapshot.
func keysOf(pods []cluster.Pod) []string {
	var out []string
	for i := range pods {
		out = append(out, pods[i].Key())
	}
	return out
}
