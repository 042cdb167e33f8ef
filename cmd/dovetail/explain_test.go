package main

import (
	"strings"
	"testing"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// samplePods are pods of the sample plan, and some that no plan mentions.
func samplePods() []cluster.Pod {
	return []cluster.Pod{
		{Namespace: "shop", Name: "web-1", Unschedulable: true},
		{Namespace: "shop", Name: "web-15", Unschedulable: true},
		{Namespace: "api", Name: "web-1", Unschedulable: true},
		{Namespace: "api", Name: "web-4", Unschedulable: true},
		{Namespace: "ml", Name: "train-0", Unschedulable: true},
		{Namespace: "ml", Name: "bound-0", NodeName: "ip-10-0-1-17.ec2.internal"},
		{Namespace: "ml", Name: "gated-0", Gated: true},
		{Namespace: "ml", Name: "fresh-0"},
	}
}

func TestExplain(t *testing.T) {
	var b strings.Builder
	for _, pod := range []string{"shop/web-1", "web-15", "web-4", "api/web-1", "train-0", "bound-0", "gated-0", "ml/fresh"} {
		e, err := explain(samplePods(), &sample().report, pod)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString("> " + pod + "\n")
		if err := e.write(&b, look{width: 90}); err != nil {
			t.Fatal(err)
		}
		b.WriteByte('\n')
	}
	golden(t, "explain.txt", b.String())
}

func TestExplainDocument(t *testing.T) {
	e, err := explain(samplePods(), &sample().report, "train-0")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := e.document(newDocumentWriter("yaml", &b)); err != nil {
		t.Fatal(err)
	}
	golden(t, "explain.yaml", b.String())
}

func TestExplainRefuses(t *testing.T) {
	cases := []struct{ pod, want string }{
		{"web-1", "2 pods are called so; write one of api/web-1, shop/web-1"},
		{"shop/train", "did you mean ml/train-0?"},
		{"nothing-like-it", "write its namespace/name"},
	}
	for _, c := range cases {
		_, err := explain(samplePods(), &sample().report, c.pod)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("--explain %s: error %v, want it to contain %q", c.pod, err, c.want)
		}
	}
}
