package cluster

import (
	"slices"
	"testing"
)

func TestAWSLabelsAreSorted(t *testing.T) {
	if !slices.IsSorted(AWSLabels) {
		t.Fatal("IsWellKnownLabel searches AWSLabels by halves: keep the list sorted")
	}
}

func TestIsWellKnownLabel(t *testing.T) {
	for key, want := range map[string]bool{
		LabelZone:                                  true,
		LabelZoneID:                                true,
		"beta.kubernetes.io/arch":                  true,
		"failure-domain.beta.kubernetes.io/zone":   true,
		LabelNodePool:                              true,
		LabelReservationID:                         true,
		"karpenter.k8s.aws/instance-family":        true,
		"karpenter.k8s.aws/instance-local-nvme":    true,
		"karpenter.k8s.aws/instance-famly":         false,
		LabelHostname:                              false,
		"example.com/team":                         false,
		LabelNodeClass:                             false,
		"":                                         false,
		"node-role.kubernetes.io/control-plane":    false,
		"karpenter.k8s.aws/instance-family-suffix": false,
	} {
		if got := IsWellKnownLabel(key); got != want {
			t.Errorf("IsWellKnownLabel(%q) = %v, want %v", key, got, want)
		}
	}
}
