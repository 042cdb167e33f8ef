package catalog

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// The labels that instance types carry besides those that package cluster names.
const (
	labelPrefix       = "karpenter.k8s.aws/instance-"
	labelHypervisor   = labelPrefix + "hypervisor"
	labelEncryption   = labelPrefix + "encryption-in-transit-supported"
	labelCategory     = labelPrefix + "category"
	labelFlex         = labelPrefix + "capability-flex"
	labelFamily       = labelPrefix + "family"
	labelGeneration   = labelPrefix + "generation"
	labelSize         = labelPrefix + "size"
	labelLocalNVMe    = labelPrefix + "local-nvme"
	labelCPU          = labelPrefix + "cpu"
	labelManufacturer = labelPrefix + "cpu-manufacturer"
	labelClock        = labelPrefix + "cpu-sustained-clock-speed-mhz"
	labelMemory       = labelPrefix + "memory"
	labelEBS          = labelPrefix + "ebs-bandwidth"
	labelNetwork      = labelPrefix + "network-bandwidth"
	labelGPUName      = labelPrefix + "gpu-name"
	labelGPUMaker     = labelPrefix + "gpu-manufacturer"
	labelGPUCount     = labelPrefix + "gpu-count"
	labelGPUMemory    = labelPrefix + "gpu-memory"
	labelAccelName    = labelPrefix + "accelerator-name"
	labelAccelMaker   = labelPrefix + "accelerator-manufacturer"
	labelAccelCount   = labelPrefix + "accelerator-count"
	labelTenancy      = labelPrefix + "tenancy"

	labelReservationInterruptible = "karpenter.k8s.aws/capacity-reservation-interruptible"
)

// labelSet is what the labels of a type depend on besides the type.
type labelSet struct{ os, build, tenancy string }

// labelsFor returns the labels of all entries, made once for each set. The
// caller holds the lock.
func (c *Catalog) labelsFor(set labelSet) []map[string]string {
	if made, ok := c.labels[set]; ok {
		return made
	}
	out := make([]map[string]string, len(c.entries))
	for i := range c.entries {
		if f := c.entries[i].facts; f != nil {
			out[i] = labelsOf(f, c.region, set)
		}
	}
	if c.labels == nil || len(c.labels) >= maxMade {
		c.labels = make(map[labelSet][]map[string]string)
	}
	c.labels[set] = out
	return out
}

// labelsOf are the labels of a type. What is not known has no label.
func labelsOf(f *Facts, region string, set labelSet) map[string]string {
	m := make(map[string]string, 28)
	text := func(key, value string) {
		if value != "" {
			m[key] = value
		}
	}
	number := func(key string, n int64) {
		if n > 0 {
			m[key] = strconv.FormatInt(n, 10)
		}
	}
	text(cluster.LabelInstanceType, f.Name)
	text(cluster.LabelArch, f.Arch)
	text(cluster.LabelOS, set.os)
	text(cluster.LabelRegion, region)
	text(cluster.LabelWindowsBuild, set.build)
	text(labelTenancy, set.tenancy)

	nameLabels(f.Name, text)
	text(labelHypervisor, f.Hypervisor)
	m[labelEncryption] = strconv.FormatBool(f.EncryptionInTransit)
	m[labelFlex] = strconv.FormatBool(f.Flex)
	number(labelLocalNVMe, f.LocalNVMeGB)
	number(labelCPU, f.VCPUs)
	text(labelManufacturer, f.CPUManufacturer)
	number(labelClock, f.ClockMHz)
	number(labelMemory, f.MemoryMiB)
	number(labelEBS, f.EBSMbps)
	number(labelNetwork, f.NetworkMbps)
	if len(f.GPUs) == 1 { // of several kinds no one value would be true
		g := &f.GPUs[0]
		text(labelGPUName, labelValue(g.Name))
		text(labelGPUMaker, labelValue(g.Manufacturer))
		m[labelGPUCount] = strconv.FormatInt(g.Count, 10)
		number(labelGPUMemory, g.MemoryMiB)
	}
	if n := f.Neuron; n != nil {
		text(labelAccelName, labelValue(n.Name))
		text(labelAccelMaker, "aws")
		number(labelAccelCount, n.Devices)
	}
	return m
}

// nameLabels gives what the name of a type alone says.
func nameLabels(name string, text func(key, value string)) {
	n, ok := splitName(name)
	if !ok {
		return
	}
	text(labelCategory, n.category)
	text(labelGeneration, n.generation)
	text(labelFamily, n.family)
	text(labelSize, n.size)
}

// labelValue writes a product's name as a label value: lower case, hyphens.
func labelValue(s string) string {
	return strings.ReplaceAll(strings.ToLower(s), " ", "-")
}

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }
