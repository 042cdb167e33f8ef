package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// everyKind has a field of every kind that the decoder knows.
type everyKind struct {
	Inlined  `json:",inline"`
	Text     string                 `json:"text"`
	Pointer  *string                `json:"pointer"`
	Int      int64                  `json:"int"`
	Small    int8                   `json:"small"`
	Unsigned uint32                 `json:"unsigned"`
	Float    float64                `json:"float"`
	Bool     bool                   `json:"bool"`
	Bytes    []byte                 `json:"bytes"`
	List     []everyKind            `json:"list"`
	Strings  map[string]string      `json:"strings"`
	Map      map[string]everyKind   `json:"map"`
	Amounts  corev1.ResourceList    `json:"amounts"`
	Amount   resource.Quantity      `json:"amount"`
	Written  Quantity               `json:"written"`
	Port     intstr.IntOrString     `json:"port"`
	Time     metav1.Time            `json:"time"`
	Duration metav1.Duration        `json:"duration"`
	Raw      json.RawMessage        `json:"raw"`
	Any      any                    `json:"any"`
	Meta     metav1.ObjectMeta      `json:"meta"`
	Status   struct{ Ready string } `json:"status"`
	Hidden   string                 `json:"-"`
}

type Inlined struct {
	In string `json:"in"`
}

func TestDecode(t *testing.T) {
	const text = ` { "in" : "i", "text":"a\u00e9\n\ud83d\ude00\ud800x\/\\\"\b\f\r\t", "pointer":"p", "int":-9007199254740993, "small":127, "unsigned":4294967295,
		"float":-1.5e2, "bool":true, "bytes":"aGk=", "list":[{"in":"x"},{"list":[]}], "strings":{"a":"b","\u0063":null}, "map":{"k":{"int":5.0}},
		"amounts":{"cpu":"1500m","memory":1024,"x":null}, "amount":"1Gi", "written":7, "port":"http", "time":"2026-01-02T03:04:05Z", "duration":"1m30s",
		"raw":{"a":[1]}, "any":{"b":[2]}, "meta":{"name":"n","managedFields":[5]}, "status":{"Ready":"yes","More":1} } `
	var got everyKind
	rep := &reporter{}
	if !decodeStrict([]byte(text), &got, rep) {
		t.Fatal(rep.errors)
	}
	smiley := "a\u00e9\n\U0001F600\uFFFDx/\\\"\b\f\r\t"
	if got.Text != smiley || got.In != "i" || *got.Pointer != "p" || got.Int != -9007199254740993 || got.Small != 127 || got.Unsigned != 4294967295 ||
		got.Float != -150 || !got.Bool || string(got.Bytes) != "hi" || got.Written != (Quantity{"7", true}) || got.Port != intstr.FromString("http") ||
		got.Time.Unix() != 1767323045 || got.Duration.Seconds() != 90 || string(got.Raw) != `{"a":[1]}` || got.Meta.Name != "n" || got.Status.Ready != "yes" {
		t.Errorf("have %+v", got)
	}
	if len(got.List) != 2 || got.List[0].In != "x" || got.List[1].List == nil || got.Map["k"].Int != 5 {
		t.Errorf("have %+v and %+v", got.List, got.Map)
	}
	if diff := cmp.Diff(map[string]string{"a": "b", "c": ""}, got.Strings); diff != "" {
		t.Error(diff)
	}
	if len(got.Amounts) != 2 || got.Amounts.Cpu().MilliValue() != 1500 || got.Amounts.Memory().Value() != 1024 || got.Amount.Value() != 1<<30 {
		t.Errorf("have %v and %v", got.Amounts, got.Amount)
	}
}

// TestDecodeNull: null is as good as absent, everywhere.
func TestDecodeNull(t *testing.T) {
	rep := &reporter{}
	parts := []string{}
	known := shapes{}
	for _, name := range known.of(reflect.TypeFor[everyKind]()).names() {
		parts = append(parts, `"`+name+`":null`)
	}
	var got everyKind
	if !decodeStrict([]byte("{"+strings.Join(parts, ",")+"}"), &got, rep) {
		t.Fatal(rep.errors)
	}
	if diff := cmp.Diff(everyKind{}, got); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeMistakes(t *testing.T) {
	for _, c := range []struct{ text, path, says string }{
		{`[]`, "", "must be an object, not a list"},
		{`{"text":5}`, "text", `put it in quotes: "5"`},
		{`{"text":false}`, "text", `put it in quotes: "false"`},
		{`{"text":{}}`, "text", "must be a string, not an object"},
		{`{"pointer":[]}`, "pointer", "must be a string, not a list"},
		{`{"int":"5"}`, "int", `must be a whole number, not a string; it says "5"`},
		{`{"int":1.5}`, "int", "must be a whole number, not 1.5"},
		{`{"int":1e30}`, "int", "must be a whole number"},
		{`{"small":128}`, "small", "out of range; it must be from -128 to 127"},
		{`{"unsigned":-1}`, "unsigned", "from 0 to 4294967295"},
		{`{"float":"x"}`, "float", "must be a number"},
		{`{"float":1e999}`, "float", "out of range"},
		{`{"bool":"true"}`, "bool", "must be true or false, not a string"},
		{`{"bytes":"?"}`, "bytes", "must be base64"},
		{`{"bytes":5}`, "bytes", "must be a string"},
		{`{"list":{}}`, "list", "must be a list, not an object"},
		{`{"list":[{},5]}`, "list[1]", "must be an object, not a number"},
		{`{"list":[{"list":[{"txt":1}]}]}`, "list[0].list[0].txt", `did you mean "text"?`},
		{`{"strings":[]}`, "strings", "must be an object, not a list"},
		{`{"strings":{"a.b/c":1}}`, `strings["a.b/c"]`, "must be a string"},
		{`{"strings":{"":1}}`, `strings[""]`, "must be a string"},
		{`{"map":{"k":{"In":""}}}`, "map.k.In", `did you mean "in"?`},
		{`{"amounts":{"cpu":"x"}}`, "amounts.cpu", "is not a quantity"},
		{`{"amounts":{"cpu":true}}`, "amounts.cpu", "must be a quantity, not true or false"},
		{`{"amount":[]}`, "amount", "must be a quantity, not a list"},
		{`{"written":true}`, "written", "must be a quantity"},
		{`{"written":0.5}`, "written", `in quotes: "0.5"`},
		{`{"port":1.5}`, "port", "must be a whole number"},
		{`{"port":{}}`, "port", "must be a whole number or a string, not an object"},
		{`{"time":"today"}`, "time", `must be a time such as 2026-01-31T12:00:00Z, not "today"`},
		{`{"duration":"long"}`, "duration", `must be a duration such as 1h30m, not "long"`},
		{`{"Hidden":"x"}`, "Hidden", "unknown field"},
		{`{"text":"a","text":"b"}`, "text", "stands here twice"},
		{`{"strings":{"a":"b","\u0061":"c"}}`, "strings.a", "stands here twice"},
		{`{"map":{"a":{},"a":{}}}`, "map.a", "stands here twice"},
		{`{"amounts":{"cpu":1,"cpu":2}}`, "amounts.cpu", "stands here twice"},
		{`{"meta":{"name":"a","nam":"b"}}`, "meta.nam", `did you mean "name"?`},
		{`{"text":"a"} x`, "", "the end is due"},
		{`{"text":tru}`, "", "a value is due"},
		{`{"list":[{"text":`, "", "the text ends"},
	} {
		rep := &reporter{}
		var into everyKind
		if decodeStrict([]byte(c.text), &into, rep) || len(rep.errors) == 0 || rep.errors[0].Path != c.path || !strings.Contains(rep.errors[0].Message, c.says) {
			t.Errorf("%s: want an error at %q that says %q, have %v", c.text, c.path, c.says, rep.errors)
		}
	}
}

// TestDefaulted: the defaulted object is the written one and what the schema
// fills in, no more.
func TestDefaulted(t *testing.T) {
	r := Load([]Source{{Name: "p", Data: patched(t, validPool, "{metadata: {creationTimestamp: null, managedFields: [{}]}, spec: {limits: {cpu: 10, memory: 1000Mi}, disruption: {consolidateAfter: 1m, budgets: []}}, status: {x: 1}}")}}, Options{})
	got, err := json.Marshal(r.Objects[0].Defaulted)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"kind":"NodePool","apiVersion":"karpenter.sh/v1","metadata":{"name":"default"},"spec":{"template":{"spec":{` +
		`"nodeClassRef":{"group":"karpenter.k8s.aws","kind":"EC2NodeClass","name":"default"},"requirements":[],"expireAfter":"720h"}},` +
		`"disruption":{"consolidateAfter":"1m","consolidationPolicy":"WhenEmptyOrUnderutilized","budgets":[]},"limits":{"cpu":10,"memory":"1000Mi"}},"status":{"x":1}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	// What has been defaulted needs no defaults, and is accepted as it is.
	again := Load([]Source{{Name: "p", Data: got}}, Options{})
	if diff := cmp.Diff(r.Snapshot, again.Snapshot); diff != "" || len(again.Errors) > 0 {
		t.Error(again.Errors, diff)
	}
}

// TestKeySet: a key that stands twice is found among many.
func TestKeySet(t *testing.T) {
	var s keySet
	for i := range 100 {
		if !s.add(fmt.Appendf(nil, "k%d", i)) {
			t.Fatalf("key %d is not new", i)
		}
	}
	for _, k := range []string{"k0", "k23", "k24", "k99"} {
		if s.add([]byte(k)) {
			t.Errorf("%s is new", k)
		}
	}
}
