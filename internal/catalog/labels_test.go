package catalog

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

func TestLabels(t *testing.T) {
	types := byName(embedded(t, "us-east-1").InstanceTypes(nil))
	const p = "karpenter.k8s.aws/instance-"
	common := func(name, arch string) map[string]string {
		return map[string]string{
			"node.kubernetes.io/instance-type": name, "kubernetes.io/arch": arch, "kubernetes.io/os": "linux",
			"topology.kubernetes.io/region": "us-east-1", p + "tenancy": "default",
		}
	}
	cases := []struct {
		name, arch string
		want       map[string]string
	}{
		{"m6id.xlarge", "amd64", map[string]string{
			p + "hypervisor": "nitro", p + "encryption-in-transit-supported": "true", p + "category": "m", p + "capability-flex": "false",
			p + "family": "m6id", p + "generation": "6", p + "size": "xlarge", p + "local-nvme": "237", p + "cpu": "4",
			p + "cpu-manufacturer": "intel", p + "cpu-sustained-clock-speed-mhz": "3500", p + "memory": "16384",
			p + "ebs-bandwidth": "10000", p + "network-bandwidth": "1562",
		}},
		{"g4dn.12xlarge", "amd64", map[string]string{
			p + "hypervisor": "nitro", p + "encryption-in-transit-supported": "true", p + "category": "g", p + "capability-flex": "false",
			p + "family": "g4dn", p + "generation": "4", p + "size": "12xlarge", p + "local-nvme": "900", p + "cpu": "48",
			p + "cpu-manufacturer": "intel", p + "cpu-sustained-clock-speed-mhz": "2500", p + "memory": "196608",
			p + "ebs-bandwidth": "9500", p + "network-bandwidth": "50000",
			p + "gpu-name": "t4", p + "gpu-manufacturer": "nvidia", p + "gpu-count": "4", p + "gpu-memory": "16384",
		}},
		{"inf2.24xlarge", "amd64", map[string]string{
			p + "hypervisor": "nitro", p + "encryption-in-transit-supported": "true", p + "category": "inf", p + "capability-flex": "false",
			p + "family": "inf2", p + "generation": "2", p + "size": "24xlarge", p + "cpu": "96",
			p + "cpu-manufacturer": "amd", p + "cpu-sustained-clock-speed-mhz": "3600", p + "memory": "393216",
			p + "ebs-bandwidth": "30000", p + "network-bandwidth": "50000",
			p + "accelerator-name": "inferentia2", p + "accelerator-manufacturer": "aws", p + "accelerator-count": "6",
		}},
		{"c7i-flex.large", "amd64", map[string]string{
			p + "hypervisor": "nitro", p + "encryption-in-transit-supported": "true", p + "category": "c", p + "capability-flex": "true",
			p + "family": "c7i-flex", p + "generation": "7", p + "size": "large", p + "cpu": "2",
			p + "cpu-manufacturer": "intel", p + "cpu-sustained-clock-speed-mhz": "3200", p + "memory": "4096",
			p + "ebs-bandwidth": "10000", p + "network-bandwidth": "390",
		}},
		{"r6g.metal", "arm64", map[string]string{ // bare metal has no hypervisor
			p + "encryption-in-transit-supported": "false", p + "category": "r", p + "capability-flex": "false",
			p + "family": "r6g", p + "generation": "6", p + "size": "metal", p + "cpu": "64",
			p + "cpu-manufacturer": "aws", p + "cpu-sustained-clock-speed-mhz": "2500", p + "memory": "524288",
			p + "ebs-bandwidth": "19000", p + "network-bandwidth": "25000",
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			want := common(c.name, c.arch)
			for k, v := range c.want {
				want[k] = v
			}
			if diff := cmp.Diff(want, types[c.name].Labels); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLabelsOfAClass(t *testing.T) {
	c := embedded(t, "us-east-1")
	types := byName(c.InstanceTypes(&cluster.NodeClass{AMIFamily: "Windows2022", Tenancy: "dedicated"}))
	labels := types["m7i.large"].Labels
	for key, want := range map[string]string{
		"kubernetes.io/os":                           "windows",
		"node.kubernetes.io/windows-build":           "10.0.20348",
		"karpenter.k8s.aws/instance-tenancy":         "dedicated",
		"karpenter.k8s.aws/instance-category":        "m",
		"karpenter.k8s.aws/instance-gpu-count":       "",
		"karpenter.k8s.aws/instance-capability-flex": "false",
	} {
		if labels[key] != want {
			t.Errorf("%s is %q, want %q", key, labels[key], want)
		}
	}
	if got := types["m7i.large"].OS; got != "windows" {
		t.Errorf("OS is %q", got)
	}
}

// TestLabelsAreKnown checks that every label of every type is one that a pod may
// require.
func TestLabelsAreKnown(t *testing.T) {
	for _, it := range embedded(t, "us-east-1").InstanceTypes(nil) {
		for key, value := range it.Labels {
			if !cluster.IsWellKnownLabel(key) {
				t.Errorf("%s: %s is not well known", it.Name, key)
			}
			if value == "" {
				t.Errorf("%s: %s is empty", it.Name, key)
			}
		}
	}
}

func TestSplitName(t *testing.T) {
	cases := []struct {
		name string
		want typeName
		ok   bool
	}{
		{"m5.large", typeName{"m", "5", "m5", "large"}, true},
		{"r7iz.metal-16xl", typeName{"r", "7", "r7iz", "metal-16xl"}, true},
		{"u-6tb1.112xlarge", typeName{"u", "1", "u-6tb1", "112xlarge"}, true},
		{"u7in-16tb.224xlarge", typeName{"u", "7", "u7in-16tb", "224xlarge"}, true},
		{"p6-b200.48xlarge", typeName{"p", "6", "p6-b200", "48xlarge"}, true},
		{"hpc7a.96xlarge", typeName{"hpc", "7", "hpc7a", "96xlarge"}, true},
		{"m10x.large", typeName{"m", "10", "m10x", "large"}, true},
		{"mac-m4.metal", typeName{}, false},
		{"u-tb1.large", typeName{}, false},
		{"big", typeName{}, false},
		{"m5.", typeName{}, false},
		{".large", typeName{}, false},
		{"5m.large", typeName{}, false},
		{"", typeName{}, false},
	}
	for _, c := range cases {
		if got, ok := splitName(c.name); got != c.want || ok != c.ok {
			t.Errorf("splitName(%q) = %+v, %v; want %+v, %v", c.name, got, ok, c.want, c.ok)
		}
	}
	if g := []int{Generation("m10x.large"), Generation("big"), Generation("m99999999999999999999.large")}; !slices.Equal(g, []int{10, 0, 0}) {
		t.Errorf("generations are %v", g)
	}
}
