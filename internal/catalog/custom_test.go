package catalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

const (
	anOffering = `{"zone":"us-east-1a","capacityType":"on-demand","price":0.1}`
	aType      = `{"name":"m5.large","cpuMilli":2000,"memoryMiB":8192,"offerings":[` + anOffering + `]}`
)

func TestParse(t *testing.T) {
	const text = `[
	{"name":"x.big","arch":"arm64","os":"linux","cpuMilli":64500,"memoryMiB":131072,"pods":200,"gpu":2,"gpuResource":"amd.com/gpu","ephemeralGiB":500,
	 "overheadCpuMilli":500,"overheadMemoryMiB":1024,"labels":{"example.com/rack":"7","karpenter.k8s.aws/instance-memory":"1"},
	 "offerings":[{"zone":"b","capacityType":"spot","price":0.5},{"zone":"a","capacityType":"reserved","price":0,"reservationId":"cr-1","reservationCount":2},
	              {"zone":"b","capacityType":"on-demand","price":1,"unavailable":true},{"zone":"a","capacityType":"reserved","price":0,"reservationId":"cr-0"}]},
	` + aType + `]`
	c, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []cluster.InstanceType{
		{Name: "m5.large", Arch: "amd64", OS: "linux", VolumeLimit: standardVolumes,
			Labels: map[string]string{"node.kubernetes.io/instance-type": "m5.large", "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
				"topology.kubernetes.io/region": "us-east-1", labelCategory: "m", labelGeneration: "5", labelFamily: "m5", labelSize: "large",
				labelCPU: "2", labelMemory: "8192"},
			Capacity:    cluster.Resources{{Name: "cpu", Amount: 2000}, {Name: "ephemeral-storage", Amount: 100 * gib}, {Name: "memory", Amount: 8 * gib}, {Name: "pods", Amount: 110}},
			Allocatable: cluster.Resources{{Name: "cpu", Amount: 2000}, {Name: "ephemeral-storage", Amount: 100 * gib}, {Name: "memory", Amount: 8 * gib}, {Name: "pods", Amount: 110}},
			Offerings:   []cluster.Offering{{Zone: "us-east-1a", CapacityType: "on-demand", Price: 0.1}}},
		{Name: "x.big", Arch: "arm64", OS: "linux", VolumeLimit: standardVolumes, Exotic: true,
			Labels: map[string]string{"node.kubernetes.io/instance-type": "x.big", "kubernetes.io/arch": "arm64", "kubernetes.io/os": "linux",
				"example.com/rack": "7", labelMemory: "1"},
			Capacity:    cluster.Resources{{Name: "amd.com/gpu", Amount: 2}, {Name: "cpu", Amount: 64500}, {Name: "ephemeral-storage", Amount: 500 * gib}, {Name: "memory", Amount: 128 * gib}, {Name: "pods", Amount: 200}},
			Allocatable: cluster.Resources{{Name: "amd.com/gpu", Amount: 2}, {Name: "cpu", Amount: 64000}, {Name: "ephemeral-storage", Amount: 500 * gib}, {Name: "memory", Amount: 127 * gib}, {Name: "pods", Amount: 200}},
			Offerings: []cluster.Offering{
				{Zone: "a", CapacityType: "reserved", ReservationID: "cr-0", ReservationType: "default", Unavailable: true},
				{Zone: "a", CapacityType: "reserved", ReservationID: "cr-1", ReservationType: "default", ReservationCount: 2},
				{Zone: "b", CapacityType: "on-demand", Price: 1, Unavailable: true},
				{Zone: "b", CapacityType: "spot", Price: 0.5},
			}},
	}
	if diff := cmp.Diff(want, c.InstanceTypes(nil)); diff != "" {
		t.Error(diff)
	}
	if c.Currency() != "USD" || c.Region() != "" || len(c.Warnings()) != 0 {
		t.Errorf("%q %q %q", c.Currency(), c.Region(), c.Warnings())
	}
}

func TestParseForms(t *testing.T) {
	for name, text := range map[string]string{
		"an array":                   `[` + aType + `]`,
		"an object":                  `{"instanceTypes":[` + aType + `]}`,
		"the yardstick's input":      `{"instanceTypes":[` + aType + `],"pods":[{"x":1}],"nodePools":null,"daemonSets":[]}`,
		"a byte order mark and CRLF": "\xef\xbb\xbf[\r\n" + aType + "\r\n]\r\n",
	} {
		if c, err := Parse([]byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if n := len(c.InstanceTypes(nil)); n != 1 {
			t.Errorf("%s: %d types", name, n)
		}
	}
}

func TestParseOperatingSystems(t *testing.T) {
	for list, want := range map[string]string{`"windows"`: "windows", `["windows"]`: "windows", `[]`: "linux", `""`: "linux", `null`: "linux", `["windows","linux"]`: "linux"} {
		text := strings.Replace(aType, `"name"`, `"os":`+list+`,"name"`, 1)
		c, err := Parse([]byte(`[` + text + `]`))
		if err != nil {
			t.Errorf("os %s: %v", list, err)
			continue
		}
		if got := c.InstanceTypes(nil)[0]; got.OS != want || got.Labels[cluster.LabelOS] != want {
			t.Errorf("os %s: %s, label %s", list, got.OS, got.Labels[cluster.LabelOS])
		}
		if warned := len(c.Warnings()) > 0; warned != strings.Contains(list, ",") {
			t.Errorf("os %s: warnings %q", list, c.Warnings())
		}
	}
}

func TestParseRefuses(t *testing.T) {
	// entry makes a catalogue of one entry with a field replaced or added.
	entry := func(field string) string {
		key, _, _ := strings.Cut(field, ":")
		fields := []string{`"name":"m5.large"`, `"cpuMilli":2000`, `"memoryMiB":8192`, `"offerings":[` + anOffering + `]`}
		replaced := false
		for i, f := range fields {
			if strings.HasPrefix(f, key+":") {
				fields[i], replaced = field, true
			}
		}
		if !replaced {
			fields = append(fields, field)
		}
		return `[{` + strings.Join(fields, ",") + `}]`
	}
	offering := func(field string) string {
		key, _, _ := strings.Cut(field, ":")
		fields := []string{`"zone":"a"`, `"capacityType":"spot"`, `"price":1`}
		replaced := false
		for i, f := range fields {
			if strings.HasPrefix(f, key+":") {
				fields[i], replaced = field, true
			}
		}
		if !replaced {
			fields = append(fields, field)
		}
		return entry(`"offerings":[` + anOffering + `,{` + strings.Join(fields, ",") + `}]`)
	}
	const in = "instanceTypes[0] (m5.large): "
	cases := []struct{ name, text, want string }{
		{"nothing", " \n", "the catalogue is empty: give a JSON array"},
		{"a word", "types", "neither a JSON array nor an object"},
		{"no types", "[]", "has no instance types: give at least one"},
		{"an object without types", `{"pods":[]}`, "has no field instanceTypes"},
		{"another object", `{"types":[]}`, `unknown field "types"`},
		{"not JSON", "[\n{\"name\":}]", "line 2: invalid character '}'"},
		{"cut", `[{"name":"a"`, "not valid JSON"},
		{"a list in the list", `[[]]`, "instanceTypes[0]: the entry is a JSON array: write an object"},
		{"null", `[null]`, "instanceTypes[0]: name is missing"},
		{"no name", `[{"cpuMilli":1}]`, "instanceTypes[0]: name is missing"},
		{"a bad name", entry(`"name":"m 5"`), "instanceTypes[0] (m 5): name is not fit for a label value"},
		{"twice", `[` + aType + `,` + aType + `]`, "instanceTypes[1] (m5.large): name is that of instanceTypes[0] too"},
		{"an unknown field", entry(`"cpumilli":2`), in + `unknown field "cpumilli": the fields are name, arch`},
		{"a field twice", `[{"name":"m5.large","name":"m5.large"}]`, in + `duplicate field "name": leave one`},
		{"a string for a number", entry(`"cpuMilli":"2"`), in + "cpuMilli is a JSON string: write a whole number, without quotes"},
		{"a fraction", entry(`"memoryMiB":1.5`), in + "memoryMiB is a JSON number 1.5: write a whole number"},
		{"a number for a string", entry(`"arch":7`), in + "arch is a JSON number: write a string in quotes"},
		{"a bad arch", entry(`"arch":"x86_64"`), in + `arch is "x86_64": write amd64 or arm64`},
		{"a bad os", entry(`"os":["darwin"]`), in + `os is "darwin": write linux or windows`},
		{"an os that is a number", entry(`"os":7`), "os must be a string such as linux"},
		{"no cpu", entry(`"cpuMilli":0`), in + "cpuMilli is 0: write a whole number from 1 to 10000000"},
		{"negative cpu", entry(`"cpuMilli":-5`), in + "cpuMilli is -5"},
		{"absurd memory", entry(`"memoryMiB":9000000000000000000`), in + "memoryMiB is 9000000000000000000: write a whole number from 1 to"},
		{"larger than an int64", entry(`"memoryMiB":99999999999999999999`), in + "memoryMiB is a JSON number 99999999999999999999"},
		{"no pods", entry(`"pods":0`), in + "pods is 0: write a whole number from 1 to 10000"},
		{"negative storage", entry(`"ephemeralGiB":-1`), in + "ephemeralGiB is -1"},
		{"more overhead than cpu", entry(`"overheadCpuMilli":2001`), in + "overheadCpuMilli is 2001: write a whole number from 0 to 2000"},
		{"negative overhead", entry(`"overheadMemoryMiB":-1`), in + "overheadMemoryMiB is -1"},
		{"too many GPUs", entry(`"gpu":5000`), in + "gpu is 5000"},
		{"a GPU resource of no GPU", entry(`"gpuResource":"amd.com/gpu"`), in + "gpuResource is given and gpu is not"},
		{"a GPU resource that is none", entry(`"gpu":1,"gpuResource":"gpu"`), in + `gpuResource is "gpu": write the name of an extended resource`},
		{"a bad label key", entry(`"labels":{"a b":"c"}`), in + `labels["a b"] is not a label key`},
		{"a bad label value", entry(`"labels":{"a":"c d"}`), in + `labels["a"] is not fit for a label value`},
		{"a label that is an offering's", entry(`"labels":{"topology.kubernetes.io/zone":"a"}`), in + `labels["topology.kubernetes.io/zone"] follows from offerings`},
		{"a label that contradicts", entry(`"labels":{"beta.kubernetes.io/arch":"arm64"}`), in + `labels["beta.kubernetes.io/arch"] follows from arch and is "amd64" there`},
		{"labels that are a list", entry(`"labels":[]`), in + "labels is a JSON array: write an object"},
		{"no offerings", entry(`"offerings":[]`), in + "offerings is missing or empty: give at least one"},
		{"offerings that are none", entry(`"offerings":{}`), in + "offerings is a JSON object: write a list"},
		{"an unknown field of an offering", offering(`"prise":1`), in + `unknown field "offerings[1].prise": the fields are zone, capacityType`},
		{"no zone", offering(`"zone":""`), in + "offerings[1].zone is missing"},
		{"a bad zone", offering(`"zone":"a b"`), in + "offerings[1].zone is not fit for a label value"},
		{"a bad capacity type", offering(`"capacityType":"Spot"`), in + `offerings[1].capacityType is "Spot": write on-demand, spot or reserved`},
		{"no price", offering(`"price":null`), in + "offerings[1].price is missing"},
		{"a negative price", offering(`"price":-0.1`), in + "offerings[1].price is -0.1"},
		{"an absurd price", offering(`"price":1e300`), in + "offerings[1].price is 1e+300"},
		{"the same offering twice", entry(`"offerings":[` + anOffering + `,` + anOffering + `]`), in + "offerings[1] has the zone, capacity type and reservation of offerings[0]"},
		{"reserved without an id", offering(`"capacityType":"reserved"`), in + "offerings[1].reservationId is missing"},
		{"an id of what is not reserved", offering(`"reservationId":"cr-1"`), in + "offerings[1].reservationId and reservationCount are for capacityType reserved alone"},
		{"a negative count", offering(`"capacityType":"reserved","reservationId":"cr-1","reservationCount":-1`), in + "offerings[1].reservationCount is -1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			if err == nil {
				t.Fatalf("%s is accepted", c.text)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestParseFindsAllErrors(t *testing.T) {
	_, err := Parse([]byte(`[{"name":"a","cpuMilli":-1,"memoryMiB":0,"offerings":[]},{"name":"b"}]`))
	if n := len(strings.Split(err.Error(), "\n")); n != 6 {
		t.Errorf("%d lines, want 6:\n%v", n, err)
	}
	_, err = Parse([]byte(`[` + strings.Repeat(`{},`, 999) + `{}]`))
	if n := len(strings.Split(err.Error(), "\n")); n > maxErrors+10 {
		t.Errorf("%d lines", n)
	}
}

func TestParseLimits(t *testing.T) {
	if _, err := Parse(make([]byte, MaxBytes+1)); err == nil || !strings.Contains(err.Error(), "bytes, more than") {
		t.Error(err)
	}
	many := func(n int) []byte {
		list := make([]string, n)
		for i := range list {
			list[i] = strings.Replace(aType, "m5.large", fmt.Sprintf("m5.l%d", i), 1)
		}
		return []byte(`[` + strings.Join(list, ",") + `]`)
	}
	if _, err := Parse(many(MaxTypes + 1)); err == nil || !strings.Contains(err.Error(), "20001 instance types, more than 20000") {
		t.Error(err)
	}
	c, err := Parse(many(MaxTypes))
	if err != nil || len(c.InstanceTypes(nil)) != MaxTypes {
		t.Error(err)
	}
}

func TestCustomUnderAClass(t *testing.T) {
	const text = `[{"name":"m5.large","cpuMilli":2000,"memoryMiB":8192,"pods":29,"offerings":[` + anOffering + `,{"zone":"us-east-1b","capacityType":"spot","price":0.05}]},
	{"name":"m6g.large","arch":"arm64","cpuMilli":2000,"memoryMiB":8192,"offerings":[` + anOffering + `]}]`
	c, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	types := c.InstanceTypes(&cluster.NodeClass{
		AMIArchs: []string{"amd64"}, Zones: []string{"us-east-1b", "us-east-1c"}, ZoneIDs: map[string]string{"us-east-1b": "use1-az4"},
		Kubelet:  cluster.Kubelet{MaxPods: ptr[int64](8), KubeReserved: map[string]string{"cpu": "1"}},
		Reserved: []cluster.CapacityReservation{{ID: "cr-1", InstanceType: "m5.large", Zone: "us-east-1c", Available: 1}},
	})
	if diff := cmp.Diff([]string{
		"m5.large us-east-1b(use1-az4) spot 0.05",
		"m5.large us-east-1c() reserved 1e-08 cr-1 default 1",
	}, show(types)); diff != "" {
		t.Error(diff)
	}
	if got := types[0].Allocatable; got.Get(cluster.Pods) != 8 || got.Get(cluster.CPU) != 2000 {
		t.Errorf("allocatable: %v", got)
	}
	if got := c.InstanceTypes(nil)[0].Allocatable.Get(cluster.Pods); got != 29 {
		t.Errorf("the class changed the catalogue: %d pods", got)
	}
	if got := c.InstanceTypes(&cluster.NodeClass{Kubelet: cluster.Kubelet{MaxPods: ptr[int64](99)}})[0].Allocatable.Get(cluster.Pods); got != 29 {
		t.Errorf("maxPods raises to %d pods", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`[` + aType + `]`, `{"instanceTypes":[` + aType + `]}`, `[null]`, `{}`, `[`,
		`[{"name":"x","os":["linux",1],"labels":{"a":null},"offerings":[{"price":1e999}]}]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(data)
		if err != nil {
			return
		}
		for _, it := range c.InstanceTypes(nil) {
			if it.Name == "" || len(it.Offerings) == 0 || !it.Allocatable.Fits(it.Capacity) || it.Capacity.Get(cluster.CPU) <= 0 {
				t.Errorf("accepted: %+v", it)
			}
		}
	})
}
