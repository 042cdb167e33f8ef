package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

const validOverlay = `
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: first}
spec:
  requirements: []
  price: "0.5"
`

func TestOverlayRules(t *testing.T) {
	spec := func(fields string) string { return "spec: {" + fields + "}" }
	adjust := func(by string) string { return "spec: {price: null, priceAdjustment: '" + by + "'}" }
	const atPrice, atAdjust = "spec.price", "spec.priceAdjustment"
	checkRules(t, validOverlay, []ruleCase{
		{name: "valid"},
		{name: "no spec", patch: "spec: null", path: "spec", says: "is missing"},
		{name: "no requirements", patch: spec("requirements: null"), path: "spec.requirements", says: "is missing"},
		{name: "100 requirements", patch: spec("requirements: " + many(100, "{key: a, operator: Exists}"))},
		{name: "101 requirements", patch: spec("requirements: " + many(101, "{key: a, operator: Exists}")), path: "spec.requirements", says: "at most 100"},
		{name: "requirements", patch: spec("requirements: [{key: karpenter.k8s.aws/instance-cpu, operator: Gte, values: ['4']}, {key: karpenter.sh/nodepool, operator: In, values: [a]}]")},
		{name: "In without values", patch: spec("requirements: [{key: a, operator: In}]"), path: "spec.requirements[0].values", says: "needs one value or more"},
		{name: "NotIn without values", patch: spec("requirements: [{key: a, operator: NotIn}]"), path: "spec.requirements[0].values", says: "needs one value or more"},
		{name: "minValues", patch: spec("requirements: [{key: a, operator: Exists, minValues: 1}]"), path: "spec.requirements[0].minValues", says: "unknown field"},
		{name: "unknown label of AWS", patch: spec("requirements: [{key: karpenter.k8s.aws/instance-fam, operator: Exists}]"), path: "spec.requirements[0].key", says: "instance-family"},

		{name: "whole price", patch: spec("price: '12'")},
		{name: "price without quotes", patch: spec("price: 0.5"), path: atPrice, says: `put it in quotes: "0.5"`},
		{name: "price below 0", patch: spec("price: '-1'"), path: atPrice, says: "not a price"},
		{name: "price with a currency", patch: spec("price: '$1'"), path: atPrice, says: "not a price"},
		{name: "price that begins with a point", patch: spec("price: '.5'"), path: atPrice, says: "not a price"},
		{name: "price and adjustment", patch: spec("priceAdjustment: '+1'"), path: atAdjust, says: "together with price"},

		{name: "add", patch: adjust("+0.25")},
		{name: "subtract", patch: adjust("-0.1")},
		{name: "add a tenth", patch: adjust("+10%")},
		{name: "add thrice", patch: adjust("+300%")},
		{name: "subtract an eighth", patch: adjust("-12.5%")},
		{name: "subtract all", patch: adjust("-100%")},
		{name: "subtract more than all", patch: adjust("-101%"), path: atAdjust, says: "down to -100%"},
		{name: "no sign", patch: adjust("10%"), path: atAdjust, says: `did you mean "+10%"?`},
		{name: "words", patch: adjust("cheaper"), path: atAdjust, says: "not an adjustment"},

		{name: "capacity", patch: spec("capacity: {example.com/device: 4, hugepages-2Mi: 100Mi}")},
		{name: "capacity of cpu", patch: spec("capacity: {cpu: 4}"), path: "spec.capacity.cpu", says: "extended resources only"},
		{name: "capacity of memory", patch: spec("capacity: {memory: 4Gi}"), path: "spec.capacity.memory", says: "extended resources only"},
		{name: "capacity of storage", patch: spec("capacity: {ephemeral-storage: 4Gi}"), path: "spec.capacity.ephemeral-storage", says: "extended resources only"},
		{name: "capacity of pods", patch: spec("capacity: {pods: 4}"), path: "spec.capacity.pods", says: "extended resources only"},
		{name: "capacity below 0", patch: spec("capacity: {example.com/device: '-4'}"), path: `spec.capacity["example.com/device"]`, says: "is negative"},

		{name: "weight 1", patch: spec("weight: 1")},
		{name: "weight 10000", patch: spec("weight: 10000")},
		{name: "weight 0", patch: spec("weight: 0"), path: "spec.weight", says: "from 1 to 10000"},
		{name: "weight 10001", patch: spec("weight: 10001"), path: "spec.weight", says: "from 1 to 10000"},
		{name: "nothing", patch: spec("price: null"), path: "spec", says: "changes nothing", warn: true},
		{name: "later version", patch: "apiVersion: karpenter.sh/v1", path: "apiVersion", says: "karpenter.sh/v1alpha1"},
	})
}

func TestOverlayConversion(t *testing.T) {
	price, add, percent := 0.5, -0.1, 12.5
	for _, c := range []struct {
		patch string
		want  cluster.NodeOverlay
	}{
		{"", cluster.NodeOverlay{Price: &price}},
		{"spec: {price: null, priceAdjustment: '-0.1', weight: 3}", cluster.NodeOverlay{Adjustment: &add, Weight: 3}},
		{"spec: {price: null, priceAdjustment: '+12.5%'}", cluster.NodeOverlay{Adjustment: &percent, Percent: true}},
		{"spec: {price: null, capacity: {hugepages-2Mi: 4Mi, a/b: 2}}", cluster.NodeOverlay{
			Capacity: cluster.Resources{{Name: "a/b", Amount: 2}, {Name: "hugepages-2Mi", Amount: 4 << 20}}}},
	} {
		r := Load([]Source{{Name: "o", Data: patched(t, validOverlay, c.patch)}}, Options{})
		c.want.Name, c.want.Requirements = "first", []cluster.Requirement{}
		if diff := cmp.Diff([]cluster.NodeOverlay{c.want}, r.Snapshot.Overlays); diff != "" {
			t.Errorf("%s: %v\n%s", c.patch, r.Errors, diff)
		}
	}
}

func TestOverlayConflicts(t *testing.T) {
	in := func(label, values string) string {
		return "spec: {requirements: [{key: " + label + ", operator: In, values: [" + values + "]}]}"
	}
	const (
		instance = "node.kubernetes.io/instance-type"
		family   = "karpenter.k8s.aws/instance-family"
		category = "karpenter.k8s.aws/instance-category"
		capacity = "karpenter.sh/capacity-type"
		arch     = "kubernetes.io/arch"
	)
	const none, conflict, perhaps = "", "conflict", "perhaps"
	for _, c := range []struct {
		name          string
		first, second string
		want          string
	}{
		{"the same types", "", "", conflict},
		{"all types and some", "", in(family, "c5"), conflict},
		{"one type in common", in(instance, "m5.large, m5.xlarge"), in(instance, "m5.xlarge, c5.large"), conflict},
		{"other types", in(instance, "m5.large"), in(instance, "c5.large"), none},
		{"a type of the family", in(instance, "m5.large"), in(family, "m5"), conflict},
		{"a type of another family", in(instance, "m5.large"), in(family, "m6i"), none},
		{"a family of the category", in(family, "m5"), in(category, "m"), conflict},
		{"a family of another category", in(family, "m5"), in(category, "c"), none},
		{"a category with more letters", in(family, "u-6tb1"), in(category, "u"), conflict},
		{"spot and a family", in(capacity, "spot"), in(family, "m5"), conflict},
		{"spot and on-demand", in(capacity, "spot"), in(capacity, "on-demand"), none},
		{"labels that may exclude each other", in(arch, "arm64"), in(family, "m5"), perhaps},
		{"other weights", "spec: {weight: 1}", "spec: {weight: 2}", none},
		{"equal weights", "spec: {weight: 2}", "spec: {weight: 2}", conflict},
		{"price and adjustment", "", "spec: {price: null, priceAdjustment: '+1'}", conflict},
		{"price and capacity", "", "spec: {price: null, capacity: {a/b: 1}}", none},
		{"the same resource", "spec: {price: null, capacity: {a/b: 1}}", "spec: {price: null, capacity: {a/b: 2}}", conflict},
		{"other resources", "spec: {price: null, capacity: {a/b: 1}}", "spec: {price: null, capacity: {a/c: 2}}", none},
		{"ranges apart", "spec: {requirements: [{key: a, operator: Gt, values: ['5']}]}", "spec: {requirements: [{key: a, operator: Lt, values: ['6']}]}", none},
		{"ranges that meet", "spec: {requirements: [{key: a, operator: Gte, values: ['5']}]}", "spec: {requirements: [{key: a, operator: Lte, values: ['5']}]}", conflict},
		{"there and not there", "spec: {requirements: [{key: a, operator: Exists}]}", "spec: {requirements: [{key: a, operator: DoesNotExist}]}", none},
		{"in and not in", in("a", "b"), "spec: {requirements: [{key: a, operator: NotIn, values: [b]}]}", none},
	} {
		t.Run(c.name, func(t *testing.T) {
			first := patched(t, validOverlay, c.first)
			second := patched(t, string(patched(t, validOverlay, "metadata: {name: second}")), c.second)
			r := Load([]Source{{Name: "first.yaml", Data: first}, {Name: "second.yaml", Data: second}}, Options{})
			got := none
			switch {
			case len(r.Errors) == 1 && r.Errors[0].Object == "NodeOverlay/second" && strings.Contains(r.Errors[0].Message, "NodeOverlay/first (first.yaml, document 1)"):
				got = conflict
			case len(r.Errors) > 0:
				t.Fatal(r.Errors)
			case len(r.Warnings) == 1 && strings.Contains(r.Warnings[0], "NodeOverlay/first"):
				got = perhaps
			}
			if got != c.want {
				t.Errorf("have %q, want %q: %v %v", got, c.want, r.Errors, r.Warnings)
			}
		})
	}
}

// TestManyOverlaysOfOneWeight: each is compared with all the others, so that
// there is an end to it.
func TestManyOverlaysOfOneWeight(t *testing.T) {
	var b strings.Builder
	for i := range maxEqualOverlays + 1 {
		fmt.Fprintf(&b, `{"apiVersion":"karpenter.sh/v1alpha1","kind":"NodeOverlay","metadata":{"name":"o%d"},"spec":{"weight":7,"price":"1","requirements":[{"key":"a","operator":"In","values":["v%d"]}]}}`, i, i)
	}
	r := Load([]Source{{Name: "f", Data: []byte(b.String())}}, Options{})
	if len(r.Errors) != 1 || !strings.Contains(r.Errors[0].Error(), "NodeOverlay/o4000: spec.weight: 7 is the weight of more than 4000 overlays") {
		t.Error(r.Errors)
	}
}
