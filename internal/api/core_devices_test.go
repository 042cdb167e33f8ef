package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// claimYAML is a ResourceClaim, or a template of one.
func claimYAML(kind, name, requests, status string) string {
	spec := "spec: {devices: {requests: [" + requests + "]}}\n"
	if kind == "ResourceClaimTemplate" {
		spec = "spec: {spec: {devices: {requests: [" + requests + "]}}}\n"
	}
	doc := "apiVersion: resource.k8s.io/v1\nkind: " + kind + "\nmetadata: {name: " + name + "}\n" + spec
	if status != "" {
		doc += "status: " + status + "\n"
	}
	return doc
}

func TestDevices(t *testing.T) {
	const byName = "resourceClaims: [{name: r, resourceClaimName: mine}]\n"
	const byTemplate = "resourceClaims: [{name: r, resourceClaimTemplateName: tpl}]\n"
	cases := []struct {
		name string
		docs []string
		want []cluster.DeviceRequest
		says string
	}{
		{"by name", []string{podYAML("p", oneContainer+byName),
			claimYAML("ResourceClaim", "mine", "{name: a, exactly: {deviceClassName: gpu.nvidia.com, count: 2}}", "")},
			[]cluster.DeviceRequest{{Class: "gpu.nvidia.com", Count: 2}}, ""},
		{"by template, added up by class", []string{podYAML("p", oneContainer+byTemplate),
			claimYAML("ResourceClaimTemplate", "tpl", "{name: a, exactly: {deviceClassName: gpu}}, {name: b, exactly: {deviceClassName: efa, allocationMode: ExactCount, count: 4}}, {name: c, exactly: {deviceClassName: gpu}}", "")},
			[]cluster.DeviceRequest{{Class: "efa", Count: 4}, {Class: "gpu", Count: 2}}, ""},
		{"the first alternative", []string{podYAML("p", oneContainer+byTemplate),
			claimYAML("ResourceClaimTemplate", "tpl", "{name: a, firstAvailable: [{name: first, deviceClassName: h100}, {name: second, deviceClassName: a100, count: 2}]}", "")},
			[]cluster.DeviceRequest{{Class: "h100", Count: 1}}, ""},
		{"an administrator's look", []string{podYAML("p", oneContainer+byTemplate),
			claimYAML("ResourceClaimTemplate", "tpl", "{name: a, exactly: {deviceClassName: gpu, adminAccess: true}}", "")}, nil, ""},
		{"all of a class", []string{podYAML("p", oneContainer+byTemplate),
			claimYAML("ResourceClaimTemplate", "tpl", "{name: a, exactly: {deviceClassName: gpu, allocationMode: All}}", "")}, nil, "all devices of class gpu"},
		{"a claim that is not there", []string{podYAML("p", oneContainer+byName)}, nil, "the ResourceClaim mine"},
		{"a template that is not there", []string{podYAML("p", oneContainer+byTemplate)}, nil, "the ResourceClaimTemplate tpl"},
		{"a claim that is allocated", []string{podYAML("p", oneContainer+byName),
			claimYAML("ResourceClaim", "mine", "{name: a, exactly: {deviceClassName: gpu}}", "{allocation: {devices: {}}}")}, nil, "allocated on a node already"},
		{"a claim that is allocated to the pod itself", []string{podYAML("p", oneContainer+"nodeName: node-1\n"+byName),
			claimYAML("ResourceClaim", "mine", "{name: a, exactly: {deviceClassName: gpu}}", "{allocation: {devices: {}}}")},
			[]cluster.DeviceRequest{{Class: "gpu", Count: 1}}, ""},
		{"the claim made from the template", []string{podYAML("p", oneContainer+byTemplate) + "status: {resourceClaimStatuses: [{name: r, resourceClaimName: p-r-x}]}\n",
			claimYAML("ResourceClaim", "p-r-x", "{name: a, exactly: {deviceClassName: gpu}}", "")},
			[]cluster.DeviceRequest{{Class: "gpu", Count: 1}}, ""},
		{"a template that made none", []string{podYAML("p", oneContainer+byTemplate) + "status: {resourceClaimStatuses: [{name: r}]}\n"}, nil, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := onlyPod(t, mustReadCore(t, c.docs...))
			if diff := cmp.Diff(c.want, p.Devices); diff != "" {
				t.Errorf("devices (-want +got):\n%s", diff)
			}
			if got := strings.Join(p.Problems, " "); c.says == "" && got != "" || !strings.Contains(got, c.says) {
				t.Errorf("problems %q, want …%s…", p.Problems, c.says)
			}
		})
	}
}

func TestSharedClaim(t *testing.T) {
	spec := oneContainer + "resourceClaims: [{name: r, resourceClaimName: mine}]\n"
	snap := mustReadCore(t, podYAML("p", spec), podYAML("q", spec),
		claimYAML("ResourceClaim", "mine", "{name: a, exactly: {deviceClassName: gpu}}", ""))
	for i := range snap.Pods {
		if got := snap.Pods[i].Problems; len(got) != 1 || !strings.Contains(got[0], "shared by several pods") {
			t.Errorf("%s: problems %q", snap.Pods[i].Name, got)
		}
	}
}

func TestClaimsRefused(t *testing.T) {
	cases := []struct{ name, kind, requests, path string }{
		{"no class", "ResourceClaim", "{name: a, exactly: {}}", "spec.devices.requests[0].exactly.deviceClassName"},
		{"no request", "ResourceClaimTemplate", "{name: a}", "spec.spec.devices.requests[0]"},
		{"a negative count", "ResourceClaim", "{name: a, exactly: {deviceClassName: c, count: -1}}", "spec.devices.requests[0].exactly.count"},
		{"an unknown mode", "ResourceClaim", "{name: a, firstAvailable: [{name: b, deviceClassName: c, allocationMode: Some}]}", "spec.devices.requests[0].firstAvailable[0].allocationMode"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, rep := readCore(t, claimYAML(c.kind, "x", c.requests, ""))
			if len(rep.errors) != 1 || rep.errors[0].Path != c.path {
				t.Errorf("errors %q, want one at %s", messages(rep), c.path)
			}
		})
	}
}
