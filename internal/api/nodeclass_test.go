package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

const validClass = `
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec:
  role: nodes
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {discovery: mine}}]
  securityGroupSelectorTerms: [{tags: {discovery: mine}}]
`

// manyTags writes n different tags as a YAML flow map.
func manyTags(n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf("t%d: v", i)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func TestSelectorRules(t *testing.T) {
	subnets := func(terms string) string { return "spec: {subnetSelectorTerms: [" + terms + "]}" }
	groups := func(terms string) string { return "spec: {securityGroupSelectorTerms: [" + terms + "]}" }
	reservations := func(terms string) string { return "spec: {capacityReservationSelectorTerms: [" + terms + "]}" }
	group := func(fields string) string { return "spec: {placementGroupSelector: {" + fields + "}}" }
	const (
		atSubnets, atGroups = "spec.subnetSelectorTerms", "spec.securityGroupSelectorTerms"
		atReservations      = "spec.capacityReservationSelectorTerms"
		atGroup             = "spec.placementGroupSelector"
	)
	checkRules(t, validClass, []ruleCase{
		{name: "valid"},
		{name: "no spec", patch: "spec: null", path: "spec", says: "is missing"},

		{name: "no subnets", patch: "spec: {subnetSelectorTerms: null}", path: atSubnets, says: "is missing"},
		{name: "empty subnets", patch: subnets(""), path: atSubnets, says: "is empty"},
		{name: "subnet by id", patch: subnets("{id: subnet-0a1b}, {id: subnet-2}")},
		{name: "subnet by any tag", patch: subnets("{tags: {Name: '*'}}")},
		{name: "subnet of nothing", patch: subnets("{}"), path: atSubnets + "[0]", says: "selects nothing"},
		{name: "subnet by id and tags", patch: subnets("{id: subnet-1, tags: {a: b}}"), path: atSubnets + "[0].id", says: "with tags"},
		{name: "subnet by id and tags beside another", patch: subnets("{id: subnet-1, tags: {a: b}}, {id: subnet-2}"), path: atSubnets + "[0].id", says: "only what has both", warn: true},
		{name: "group by name and tags beside another", patch: groups("{id: sg-1}, {name: b, tags: {a: b}}"), path: atGroups + "[1].name", says: "only what has both", warn: true},
		{name: "id with something before it", patch: subnets("{id: my-subnet-1}"), path: atSubnets + "[0].id", says: "is not an id", warn: true},
		{name: "id in capitals", patch: subnets("{id: subnet-A1}"), path: atSubnets + "[0].id", says: "is not an id"},
		{name: "subnet with the id of a group", patch: subnets("{id: sg-1}"), path: atSubnets + "[0].id", says: "subnet- followed"},
		{name: "tag without a key", patch: subnets("{tags: {'': b}}"), path: atSubnets + "[0].tags", says: "empty key"},
		{name: "tag without a value", patch: subnets("{tags: {a: ''}}"), path: atSubnets + "[0].tags.a", says: `write "*"`},
		{name: "20 tags", patch: subnets("{tags: " + manyTags(20) + "}")},
		{name: "21 tags", patch: subnets("{tags: " + manyTags(21) + "}"), path: atSubnets + "[0].tags", says: "at most 20"},
		{name: "30 terms", patch: "spec: {subnetSelectorTerms: " + many(30, "{id: subnet-1}") + "}"},
		{name: "31 terms", patch: "spec: {subnetSelectorTerms: " + many(31, "{id: subnet-1}") + "}", path: atSubnets, says: "at most 30"},

		{name: "no groups", patch: "spec: {securityGroupSelectorTerms: null}", path: atGroups, says: "is missing"},
		{name: "empty groups", patch: groups(""), path: atGroups, says: "is empty"},
		{name: "groups", patch: groups("{id: sg-1}, {name: nodes}, {tags: {a: b}}")},
		{name: "group of nothing", patch: groups("{}"), path: atGroups + "[0]", says: "selects nothing"},
		{name: "group by id and name", patch: groups("{id: sg-1, name: a}"), path: atGroups + "[0].id", says: "with name"},
		{name: "group by id and tags", patch: groups("{id: sg-1, tags: {a: b}}"), path: atGroups + "[0].id", says: "with tags"},
		{name: "group by name and tags", patch: groups("{name: a, tags: {a: b}}"), path: atGroups + "[0].name", says: "with tags"},
		{name: "group with a bad id", patch: groups("{id: sg_1}"), path: atGroups + "[0].id", says: "sg- followed"},

		{name: "reservations", patch: reservations("{id: cr-1}, {tags: {a: b}, ownerID: '123456789012'}, {instanceMatchCriteria: open}, {instanceMatchCriteria: targeted, ownerID: '123456789012'}")},
		{name: "no reservations", patch: reservations("")},
		{name: "reservation of an owner alone", patch: reservations("{ownerID: '123456789012'}"), path: atReservations + "[0]", says: "selects nothing"},
		{name: "reservation by id and more", patch: reservations("{id: cr-1, ownerID: '123456789012'}"), path: atReservations + "[0].id", says: "with ownerID"},
		{name: "reservation with a bad id", patch: reservations("{id: lt-1}"), path: atReservations + "[0].id", says: "cr- followed"},
		{name: "reservation with a short owner", patch: reservations("{tags: {a: b}, ownerID: '1234'}"), path: atReservations + "[0].ownerID", says: "12 digits"},
		{name: "reservation with an owner as a number", patch: reservations("{tags: {a: b}, ownerID: 123456789012}"), path: atReservations + "[0].ownerID", says: `put it in quotes`},
		{name: "reservation with unknown criteria", patch: reservations("{instanceMatchCriteria: opne}"), path: atReservations + "[0].instanceMatchCriteria", says: `did you mean "open"?`},

		{name: "placement group by name", patch: group("name: a")},
		{name: "placement group by id", patch: group("id: pg-1")},
		{name: "placement group of nothing", patch: "spec: {placementGroupSelector: {name: null}}", path: atGroup, says: "exactly one"},
		{name: "placement group by both", patch: group("name: a, id: pg-1"), path: atGroup, says: "exactly one"},
		{name: "placement group with a bad id", patch: group("id: p-1"), path: atGroup + ".id", says: "pg- followed"},
	})
}

func TestImageRules(t *testing.T) {
	terms := func(terms, more string) string {
		return "spec: {amiSelectorTerms: [" + terms + "]" + more + "}"
	}
	const custom = ", amiFamily: Custom"
	const at = "spec.amiSelectorTerms"
	checkRules(t, validClass, []ruleCase{
		{name: "none", patch: "spec: {amiSelectorTerms: null, amiFamily: AL2023}", path: at, says: "is missing"},
		{name: "empty", patch: terms("", ", amiFamily: AL2023"), path: at, says: "is empty"},
		{name: "30 terms", patch: "spec: {amiFamily: Custom, amiSelectorTerms: " + many(30, "{id: ami-1}") + "}"},
		{name: "31 terms", patch: "spec: {amiFamily: Custom, amiSelectorTerms: " + many(31, "{id: ami-1}") + "}", path: at, says: "at most 30"},
		{name: "all kinds", patch: terms("{id: ami-1}, {name: a}, {name: a, owner: self}, {tags: {a: b}}, {ssmParameter: /my/image}", custom)},
		{name: "owner alone", patch: terms("{owner: self}", custom), path: at + "[0]", says: "selects nothing"},
		{name: "id with more", patch: terms("{id: ami-1, owner: self, name: a}", custom), path: at + "[0].id", says: "with name, owner"},
		{name: "bad id", patch: terms("{id: i-1}", custom), path: at + "[0].id", says: "ami- followed"},

		{name: "bottlerocket", patch: terms("{alias: bottlerocket@v1.20.4}", "")},
		{name: "alias without a version", patch: terms("{alias: al2023}", ""), path: at + "[0].alias", says: "family@version"},
		{name: "alias of an unknown family", patch: terms("{alias: al2024@latest}", ""), path: at + "[0].alias", says: `did you mean "al2023@latest"?`},
		{name: "alias in capitals", patch: terms("{alias: AL2023@latest}", ""), path: at + "[0].alias", says: `did you mean "al2023@latest"?`},
		{name: "long alias", patch: terms("{alias: al2023@v20250101-and-more-than-that}", ""), path: at + "[0].alias", says: "at most 30"},
		{name: "windows", patch: terms("{alias: windows2022@latest}", "")},
		{name: "windows with a version", patch: terms("{alias: windows2022@v1}", ""), path: at + "[0].alias", says: "windows2022@latest"},
		{name: "alias with more", patch: terms("{alias: al2023@latest, tags: {a: b}}", ""), path: at + "[0].alias", says: "with tags"},
		{name: "alias and id", patch: terms("{alias: al2023@latest, id: ami-1}", ""), path: at + "[0].id", says: "with alias"},
		{name: "alias and another term", patch: terms("{alias: al2023@latest}, {id: ami-1}", ""), path: at + "[0].alias", says: "the only term"},

		{name: "no family and no alias", patch: terms("{id: ami-1}", ""), path: "spec.amiFamily", says: "is missing"},
		{name: "family of the alias", patch: "spec: {amiFamily: AL2023}"},
		{name: "custom family with an alias", patch: "spec: {amiFamily: Custom}"},
		{name: "other family than the alias", patch: "spec: {amiFamily: Bottlerocket}", path: "spec.amiFamily", says: "write AL2023 or Custom"},
		{name: "unknown family", patch: terms("{id: ami-1}", ", amiFamily: Ubuntu"), path: "spec.amiFamily", says: "it must be AL2, AL2023"},
		{name: "family in lower case", patch: terms("{id: ami-1}", ", amiFamily: windows2025"), path: "spec.amiFamily", says: `did you mean "Windows2025"?`},
	})
}

func TestClassRules(t *testing.T) {
	spec := func(fields string) string { return "spec: {" + fields + "}" }
	checkRules(t, validClass, []ruleCase{
		{name: "profile", patch: spec("role: null, instanceProfile: p")},
		{name: "no identity", patch: spec("role: null"), path: "spec", says: "one of role and instanceProfile"},
		{name: "two identities", patch: spec("instanceProfile: p"), path: "spec.instanceProfile", says: "together with role"},
		{name: "empty role", patch: spec("role: ''"), path: "spec.role", says: "is empty"},
		{name: "empty profile", patch: spec("role: null, instanceProfile: ''"), path: "spec.instanceProfile", says: "is empty"},

		{name: "tags", patch: spec("tags: {Name: a, team: ''}")},
		{name: "tag without a key", patch: spec("tags: {'': a}"), path: "spec.tags", says: "empty key"},
		{name: "tag of the cluster", patch: spec("tags: {kubernetes.io/cluster/mine: owned}"), path: `spec.tags["kubernetes.io/cluster/mine"]`, says: "by itself"},
		{name: "tag of EKS", patch: spec("tags: {'eks:eks-cluster-name': a}"), path: `spec.tags["eks:eks-cluster-name"]`, says: "by itself"},
		{name: "tag of the pool", patch: spec("tags: {karpenter.sh/nodepool: a}"), path: `spec.tags["karpenter.sh/nodepool"]`, says: "by itself"},
		{name: "tag of the claim", patch: spec("tags: {karpenter.sh/nodeclaim: a}"), path: `spec.tags["karpenter.sh/nodeclaim"]`, says: "by itself"},
		{name: "tag of the class", patch: spec("tags: {karpenter.k8s.aws/ec2nodeclass: a}"), path: `spec.tags["karpenter.k8s.aws/ec2nodeclass"]`, says: "by itself"},

		{name: "the simple ones", patch: spec("userData: x, context: c, associatePublicIPAddress: true, detailedMonitoring: false, ipPrefixCount: 0, instanceStorePolicy: RAID0, cpuOptions: {nestedVirtualization: enabled}")},
		{name: "bool in quotes", patch: spec("detailedMonitoring: 'true'"), path: "spec.detailedMonitoring", says: "must be true or false, not a string"},
		{name: "prefixes below 0", patch: spec("ipPrefixCount: -1"), path: "spec.ipPrefixCount", says: "is negative"},
		{name: "other store policy", patch: spec("instanceStorePolicy: raid0"), path: "spec.instanceStorePolicy", says: `did you mean "RAID0"?`},
		{name: "nested virtualization", patch: spec("cpuOptions: {nestedVirtualization: 'on'}"), path: "spec.cpuOptions.nestedVirtualization", says: "enabled or disabled"},
		{name: "field of an older version", patch: spec("subnetSelector: {a: b}"), path: "spec.subnetSelector", says: "spec.subnetSelectorTerms"},

		{name: "metadata options", patch: spec("metadataOptions: {httpEndpoint: disabled, httpProtocolIPv6: enabled, httpPutResponseHopLimit: 64, httpTokens: optional}")},
		{name: "endpoint", patch: spec("metadataOptions: {httpEndpoint: on_}"), path: "spec.metadataOptions.httpEndpoint", says: "enabled or disabled"},
		{name: "ipv6", patch: spec("metadataOptions: {httpProtocolIPv6: x}"), path: "spec.metadataOptions.httpProtocolIPv6", says: "enabled or disabled"},
		{name: "tokens", patch: spec("metadataOptions: {httpTokens: require}"), path: "spec.metadataOptions.httpTokens", says: `did you mean "required"?`},
		{name: "hops 0", patch: spec("metadataOptions: {httpPutResponseHopLimit: 0}"), path: "spec.metadataOptions.httpPutResponseHopLimit", says: "from 1 to 64"},
		{name: "hops 65", patch: spec("metadataOptions: {httpPutResponseHopLimit: 65}"), path: "spec.metadataOptions.httpPutResponseHopLimit", says: "from 1 to 64"},

		{name: "tracking", patch: spec("connectionTracking: {tcpEstablishedTimeout: 60, udpStreamTimeout: 180, udpTimeout: 30}")},
		{name: "tracking of nothing", patch: spec("connectionTracking: {tcpEstablishedTimeout: null}"), path: "spec.connectionTracking", says: "sets nothing"},
		{name: "tcp", patch: spec("connectionTracking: {tcpEstablishedTimeout: 432001}"), path: "spec.connectionTracking.tcpEstablishedTimeout", says: "from 60 to 432000"},
		{name: "udp stream", patch: spec("connectionTracking: {udpStreamTimeout: 59}"), path: "spec.connectionTracking.udpStreamTimeout", says: "from 60 to 180"},
		{name: "udp", patch: spec("connectionTracking: {udpTimeout: 61}"), path: "spec.connectionTracking.udpTimeout", says: "from 30 to 60"},
	})
}

func TestDiskRules(t *testing.T) {
	disks := func(list string) string { return "spec: {blockDeviceMappings: [" + list + "]}" }
	ebs := func(fields string) string { return disks("{deviceName: /dev/xvda, ebs: {" + fields + "}}") }
	const at, atEBS = "spec.blockDeviceMappings", "spec.blockDeviceMappings[0].ebs"
	checkRules(t, validClass, []ruleCase{
		{name: "all fields", patch: ebs("deleteOnTermination: true, encrypted: true, iops: 3000, kmsKeyID: k, throughput: 125, snapshotID: snap-1, volumeInitializationRate: 100, volumeSize: 20Gi, volumeType: gp3")},
		{name: "root", patch: disks("{deviceName: a, rootVolume: true, ebs: {volumeSize: 1Gi}}, {deviceName: b, ebs: {volumeSize: 1Gi}}")},
		{name: "two roots", patch: disks("{deviceName: a, rootVolume: true, ebs: {volumeSize: 1Gi}}, {deviceName: b, rootVolume: true, ebs: {volumeSize: 1Gi}}"), path: at + "[1].rootVolume", says: "only one disk"},
		{name: "50 disks", patch: "spec: {blockDeviceMappings: " + many(50, "{ebs: {volumeSize: 1Gi}}") + "}"},
		{name: "51 disks", patch: "spec: {blockDeviceMappings: " + many(51, "{ebs: {volumeSize: 1Gi}}") + "}", path: at, says: "at most 50"},
		{name: "no size", patch: ebs("encrypted: true"), path: atEBS, says: "volumeSize or snapshotID"},
		{name: "snapshot", patch: ebs("snapshotID: snap-1")},
		{name: "rate without snapshot", patch: ebs("volumeSize: 1Gi, volumeInitializationRate: 100"), path: atEBS + ".volumeInitializationRate", says: "snapshot"},
		{name: "rate too low", patch: ebs("snapshotID: s, volumeInitializationRate: 99"), path: atEBS + ".volumeInitializationRate", says: "from 100 to 300"},
		{name: "rate too high", patch: ebs("snapshotID: s, volumeInitializationRate: 301"), path: atEBS + ".volumeInitializationRate", says: "from 100 to 300"},
		{name: "size in G", patch: ebs("volumeSize: 64000G")},
		{name: "size in Ti", patch: ebs("volumeSize: 16Ti")},
		{name: "size in T", patch: ebs("volumeSize: 64T")},
		{name: "size in Mi", patch: ebs("volumeSize: 500Mi"), path: atEBS + ".volumeSize", says: "Gi, G, Ti or T"},
		{name: "size without a unit", patch: ebs("volumeSize: 100"), path: atEBS + ".volumeSize", says: `did you mean "100Gi"?`},
		{name: "largest size in Ti", patch: ebs("volumeSize: 58Ti")},
		{name: "size in the gap of the schema", patch: ebs("volumeSize: 18Ti"), path: atEBS + ".volumeSize", says: "write 18432Gi"},
		{name: "size with a fraction", patch: ebs("volumeSize: 1.5Ti"), path: atEBS + ".volumeSize", says: "whole number"},
		{name: "size of 0", patch: ebs("volumeSize: 0Gi"), path: atEBS + ".volumeSize", says: "not the size"},
		{name: "size beyond EBS", patch: ebs("volumeSize: 65T"), path: atEBS + ".volumeSize", says: "64T"},
		{name: "type", patch: ebs("volumeSize: 1Gi, volumeType: io2")},
		{name: "unknown type", patch: ebs("volumeSize: 1Gi, volumeType: gp4"), path: atEBS + ".volumeType", says: "did you mean"},
	})
}

func TestInterfaceRules(t *testing.T) {
	const primary = "{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}"
	list := func(more ...string) string {
		return "spec: {networkInterfaces: [" + strings.Join(more, ", ") + "]}"
	}
	efa := func(card, device int) string {
		return fmt.Sprintf("{networkCardIndex: %d, deviceIndex: %d, interfaceType: efa-only}", card, device)
	}
	many := make([]string, 151)
	for i := range many {
		many[i] = fmt.Sprintf("{networkCardIndex: 0, deviceIndex: %d, interfaceType: interface}", i)
	}
	const at = "spec.networkInterfaces"
	checkRules(t, validClass, []ruleCase{
		{name: "primary and efa", patch: list(primary, efa(0, 1), efa(1, 0))},
		{name: "no primary", patch: list(efa(0, 1)), path: at, says: "no primary interface"},
		{name: "primary is efa", patch: list(efa(0, 0)), path: at, says: "no primary interface"},
		{name: "same place", patch: list(primary, primary), path: at + "[1]", says: "can be used once"},
		{name: "two efa on a card", patch: list(primary, efa(1, 0), efa(1, 1)), path: at + "[2]", says: "second efa-only"},
		{name: "card below 0", patch: list(primary, efa(-1, 0)), path: at + "[1].networkCardIndex", says: "is negative"},
		{name: "device below 0", patch: list(primary, efa(0, -1)), path: at + "[1].deviceIndex", says: "is negative"},
		{name: "no card", patch: list("{deviceIndex: 0, interfaceType: interface}"), path: at + "[0].networkCardIndex", says: "is missing"},
		{name: "unknown type", patch: list(primary, "{networkCardIndex: 1, deviceIndex: 0, interfaceType: efa}"), path: at + "[1].interfaceType", says: "interface or efa-only"},
		{name: "150", patch: list(many[:150]...)},
		{name: "151", patch: list(many...), path: at, says: "at most 150"},
	})
}

func TestKubeletRules(t *testing.T) {
	kubelet := func(fields string) string { return "spec: {kubelet: {" + fields + "}}" }
	const at = "spec.kubelet"
	checkRules(t, validClass, []ruleCase{
		{name: "all fields", patch: kubelet("clusterDNS: [10.0.0.1], maxPods: 110, podsPerCore: 0, systemReserved: {cpu: 100m, memory: 100Mi, ephemeral-storage: 1Gi, pid: '100'}, kubeReserved: {cpu: '1'}, " +
			"evictionHard: {memory.available: 5%, nodefs.available: 100.00%, nodefs.inodesFree: 10.25%}, evictionSoft: {memory.available: 500Mi, imagefs.available: 15%, imagefs.inodesFree: 1%, pid.available: 5%}, " +
			"evictionSoftGracePeriod: {memory.available: 1m, imagefs.available: 1m30s, imagefs.inodesFree: 2m, pid.available: 1m}, evictionMaxPodGracePeriod: 60, imageGCHighThresholdPercent: 85, imageGCLowThresholdPercent: 80, cpuCFSQuota: true")},
		{name: "pods below 0", patch: kubelet("maxPods: -1"), path: at + ".maxPods", says: "is negative"},
		{name: "pods per core below 0", patch: kubelet("podsPerCore: -1"), path: at + ".podsPerCore", says: "is negative"},
		{name: "pods per core and Bottlerocket", patch: "spec: {kubelet: {podsPerCore: 5}, amiSelectorTerms: [{alias: bottlerocket@latest}]}", path: at + ".podsPerCore", says: "Bottlerocket"},
		{name: "unknown reserved key", patch: kubelet("systemReserved: {mem: 1Gi}"), path: at + ".systemReserved.mem", says: "cpu, memory, ephemeral-storage or pid"},
		{name: "reserved below 0", patch: kubelet("kubeReserved: {cpu: -100m}"), path: at + ".kubeReserved.cpu", says: "is negative"},
		{name: "reserved that is no quantity", patch: kubelet("kubeReserved: {memory: lots}"), path: at + ".kubeReserved.memory", says: "is not a quantity"},
		{name: "reserved as a number", patch: kubelet("kubeReserved: {cpu: 1}"), path: at + ".kubeReserved.cpu", says: `put it in quotes: "1"`},
		{name: "unknown signal", patch: kubelet("evictionHard: {memory.availible: 5%}"), path: at + `.evictionHard["memory.availible"]`, says: `did you mean "memory.available"?`},
		{name: "percentage over 100", patch: kubelet("evictionHard: {memory.available: 101%}"), path: at + `.evictionHard["memory.available"]`, says: "from 0% to 100%"},
		{name: "threshold that is no quantity", patch: kubelet("evictionHard: {memory.available: some}"), path: at + `.evictionHard["memory.available"]`, says: "a percentage such as 10%"},
		{name: "threshold below 0", patch: kubelet("evictionHard: {memory.available: -1Mi}"), path: at + `.evictionHard["memory.available"]`, says: "is negative"},
		{name: "soft without grace", patch: kubelet("evictionSoft: {memory.available: 5%}"), path: at + `.evictionSoft["memory.available"]`, says: "no grace period"},
		{name: "grace without soft", patch: kubelet("evictionSoftGracePeriod: {memory.available: 1m}"), path: at + `.evictionSoftGracePeriod["memory.available"]`, says: "no threshold"},
		{name: "grace that is no duration", patch: kubelet("evictionSoft: {memory.available: 5%}, evictionSoftGracePeriod: {memory.available: soon}"), path: at + `.evictionSoftGracePeriod["memory.available"]`, says: "must be a duration"},
		{name: "image gc upside down", patch: kubelet("imageGCHighThresholdPercent: 80, imageGCLowThresholdPercent: 80"), path: at + ".imageGCHighThresholdPercent", says: "not above"},
		{name: "image gc over 100", patch: kubelet("imageGCHighThresholdPercent: 101"), path: at + ".imageGCHighThresholdPercent", says: "from 0 to 100"},
		{name: "image gc below 0", patch: kubelet("imageGCLowThresholdPercent: -1"), path: at + ".imageGCLowThresholdPercent", says: "from 0 to 100"},
	})
}

// TestClassConversion reads one class with everything in it that a plan looks at.
func TestClassConversion(t *testing.T) {
	r := Load([]Source{{Name: "class.yaml", Data: patched(t, validClass, `
spec:
  amiSelectorTerms: [{alias: bottlerocket@latest}]
  instanceStorePolicy: RAID0
  cpuOptions: {nestedVirtualization: enabled}
  connectionTracking: {udpTimeout: 30}
  kubelet: {maxPods: 20, kubeReserved: {cpu: 100m}, systemReserved: {memory: 1Gi}, evictionHard: {memory.available: 5%}}
  blockDeviceMappings:
  - {deviceName: /dev/xvda, ebs: {volumeSize: 4Gi}}
  - {deviceName: /dev/xvdb, rootVolume: true, ebs: {volumeSize: 20G}}
  - {deviceName: /dev/xvdc, ebs: {snapshotID: snap-1}}
  networkInterfaces:
  - {networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}
  - {networkCardIndex: 0, deviceIndex: 1, interfaceType: efa-only}
  - {networkCardIndex: 3, deviceIndex: 0, interfaceType: efa-only}
status:
  subnets: [{id: subnet-1, zone: b, zoneID: use1-az2}, {id: subnet-2, zone: a, zoneID: use1-az1}, {id: subnet-3, zone: a, zoneID: use1-az1}]
  amis:
  - {id: ami-1, requirements: [{key: kubernetes.io/arch, operator: In, values: [arm64]}]}
  - {id: ami-2, requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}
  capacityReservations: [{id: cr-1, instanceType: m5.large, availabilityZone: a, reservationType: default, state: expiring, interruptible: true, availableInstanceCount: 3}]
`)}}, Options{ReservedENIs: 1})
	if len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	pods := int64(20)
	want := cluster.NodeClass{
		Name: "default", AMIFamily: "Bottlerocket", AMIArchs: []string{"amd64", "arm64"},
		Zones: []string{"a", "b"}, ZoneIDs: map[string]string{"a": "use1-az1", "b": "use1-az2"},
		Kubelet: cluster.Kubelet{
			MaxPods: &pods, KubeReserved: map[string]string{"cpu": "100m"},
			SystemReserved: map[string]string{"memory": "1Gi"}, EvictionHard: map[string]string{"memory.available": "5%"},
		},
		RAID0: true, NestedVirt: true, NitroOnly: true,
		Disks:   []cluster.Disk{{DeviceName: "/dev/xvda", SizeBytes: 4 << 30}, {DeviceName: "/dev/xvdb", Root: true, SizeBytes: 20e9}, {DeviceName: "/dev/xvdc"}},
		EFAOnly: 1, Interfaces: 3, MaxCard: 3, ReservedENI: 1,
		Reserved: []cluster.CapacityReservation{{ID: "cr-1", InstanceType: "m5.large", Zone: "a", Type: "default", Available: 3, Interruptible: true, Expiring: true}},
	}
	if diff := cmp.Diff(want, r.Snapshot.NodeClasses[0]); diff != "" {
		t.Error(diff)
	}
}
