package catalog

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

func TestTableRoundTrip(t *testing.T) {
	whole, err := Decode(tableBytes)
	if err != nil {
		t.Fatal(err)
	}
	for name, table := range map[string]*Table{"embedded": whole, "small": smallTable(), "empty": {}} {
		data, err := Encode(table)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := Encode(table)
		if err != nil || !bytes.Equal(data, again) {
			t.Errorf("%s: two encodings differ (%v)", name, err)
		}
		got, err := Decode(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(table, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if len(tableBytes) > 300_000 {
		t.Errorf("the table has %d bytes", len(tableBytes))
	}
}

func TestEncodeRefuses(t *testing.T) {
	for name, change := range map[string]func(*Table){
		"is negative":             func(t *Table) { t.Types[0].VCPUs = -1 },
		"regions are not sorted":  func(t *Table) { t.Regions[0].Name = "zz-north-1" },
		"types are not sorted":    func(t *Table) { t.Types[0].Name = "z1.large" },
		"a column of 1 entries":   func(t *Table) { t.Regions[0].Prices = []int64{1} },
		"zone that is not listed": func(t *Table) { t.Regions[1].Offered[0] = 4 },
		"saves 101 per cent":      func(t *Table) { t.Regions[1].Spot[0].Saving = 101 },
		"longer than 32":          func(t *Table) { t.Regions[0].Zones = make([]Zone, 33) },
	} {
		table := smallTable()
		change(table)
		if _, err := Encode(table); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// unpack undoes the compression, so that tests can damage what is inside.
func unpack(t testing.TB, data []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func pack(t testing.TB, raw []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestDecodeDamaged(t *testing.T) {
	data, err := Encode(smallTable())
	if err != nil {
		t.Fatal(err)
	}
	raw := unpack(t, data)
	for n := range raw {
		if _, err := decodeWire(string(raw[:n])); err == nil {
			t.Errorf("cut to %d of %d bytes it still decodes", n, len(raw))
		}
	}
	for name, data := range map[string][]byte{"nothing": nil, "no gzip": []byte("hello"), "cut": data[:len(data)-5],
		"more": pack(t, append(bytes.Clone(raw), 0)), "another version": pack(t, []byte("dovetail instance types 9\n"))} {
		if _, err := Decode(data); err == nil {
			t.Errorf("%s decodes", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	raw, err := encodeWire(smallTable())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(raw))
	f.Fuzz(func(t *testing.T, raw string) {
		table, err := decodeWire(raw)
		if err != nil {
			return
		}
		again, err := encodeWire(table)
		if err != nil {
			t.Fatalf("what decodes does not encode: %v", err)
		}
		if _, err := decodeWire(string(again)); err != nil {
			t.Fatal(err)
		}
	})
}

// TestSameEveryTime makes everything twice from the bytes.
func TestSameEveryTime(t *testing.T) {
	class := &cluster.NodeClass{Kubelet: cluster.Kubelet{MaxPods: ptr[int64](50), KubeReserved: map[string]string{"cpu": "1", "memory": "1Gi"}},
		Reserved: []cluster.CapacityReservation{{ID: "cr-2", InstanceType: "m5.large", Zone: "us-east-1a", Available: 1}, {ID: "cr-1", InstanceType: "m5.large", Zone: "us-east-1a", Available: 1}}}
	var made [2][]cluster.InstanceType
	for i := range made {
		table, err := Decode(tableBytes)
		if err != nil {
			t.Fatal(err)
		}
		c, err := New(table, "us-east-1")
		if err != nil {
			t.Fatal(err)
		}
		made[i] = c.InstanceTypes(class)
	}
	if diff := cmp.Diff(made[0], made[1]); diff != "" {
		t.Error(diff)
	}
}

func TestRemembered(t *testing.T) {
	c := embedded(t, "us-east-1")
	kubelet := func(n int64) *cluster.NodeClass {
		return &cluster.NodeClass{Name: "x", Kubelet: cluster.Kubelet{MaxPods: &n}}
	}
	a, b, other := c.InstanceTypes(kubelet(30)), c.InstanceTypes(kubelet(30)), c.InstanceTypes(kubelet(31))
	if &a[0] != &b[0] {
		t.Error("the same settings are worked out twice")
	}
	if &a[0] == &other[0] || other[0].Capacity.Get(cluster.Pods) != 31 {
		t.Error("other settings give the same")
	}
	for n := range int64(3 * maxMade) {
		c.InstanceTypes(kubelet(n))
	}
	if len(c.made) > maxMade {
		t.Errorf("%d lists are kept", len(c.made))
	}
}

// TestShared asks from several goroutines at once; the race detector judges.
func TestShared(t *testing.T) {
	c := embedded(t, "eu-west-1")
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			class := &cluster.NodeClass{AMIFamily: []string{al2, bottlerocket}[i%2]}
			if len(c.InstanceTypes(class)) == 0 {
				t.Error("no types")
			}
		})
	}
	wg.Wait()
}

func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(tableBytes); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkInstanceTypes measures the first call of a process, decoding apart.
func BenchmarkInstanceTypes(b *testing.B) {
	table, err := Decode(tableBytes)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		c, err := New(table, "us-east-1")
		if err != nil {
			b.Fatal(err)
		}
		if len(c.InstanceTypes(nil)) == 0 {
			b.Fatal("no types")
		}
	}
}
