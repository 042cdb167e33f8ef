package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EC2NodeClass is karpenter.k8s.aws/v1 EC2NodeClass.
type EC2NodeClass struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta  `json:"metadata"`
	Spec            *EC2NodeClassSpec  `json:"spec"`
	Status          EC2NodeClassStatus `json:"status,omitzero"`
}

// EC2NodeClassSpec says how the instances of a class are launched.
type EC2NodeClassSpec struct {
	SubnetSelectorTerms              []SubnetTerm              `json:"subnetSelectorTerms"`
	SecurityGroupSelectorTerms       []SecurityGroupTerm       `json:"securityGroupSelectorTerms"`
	CapacityReservationSelectorTerms []CapacityReservationTerm `json:"capacityReservationSelectorTerms,omitzero"`
	PlacementGroupSelector           *PlacementGroupSelector   `json:"placementGroupSelector,omitzero"`
	AssociatePublicIPAddress         *bool                     `json:"associatePublicIPAddress,omitzero"`
	AMISelectorTerms                 []AMITerm                 `json:"amiSelectorTerms"`
	AMIFamily                        *string                   `json:"amiFamily,omitzero"`
	UserData                         *string                   `json:"userData,omitzero"`
	Role                             *string                   `json:"role,omitzero"`
	InstanceProfile                  *string                   `json:"instanceProfile,omitzero"`
	Tags                             map[string]string         `json:"tags,omitzero"`
	Kubelet                          *KubeletConfiguration     `json:"kubelet,omitzero"`
	BlockDeviceMappings              []BlockDeviceMapping      `json:"blockDeviceMappings,omitzero"`
	InstanceStorePolicy              *string                   `json:"instanceStorePolicy,omitzero"`
	DetailedMonitoring               *bool                     `json:"detailedMonitoring,omitzero"`
	MetadataOptions                  *MetadataOptions          `json:"metadataOptions,omitzero"`
	NetworkInterfaces                []NetworkInterface        `json:"networkInterfaces,omitzero"`
	ConnectionTracking               *ConnectionTracking       `json:"connectionTracking,omitzero"`
	CPUOptions                       *CPUOptions               `json:"cpuOptions,omitzero"`
	IPPrefixCount                    *int32                    `json:"ipPrefixCount,omitzero"`
	Context                          *string                   `json:"context,omitzero"`
}

// SubnetTerm selects subnets.
type SubnetTerm struct {
	Tags map[string]string `json:"tags,omitzero"`
	ID   *string           `json:"id,omitzero"`
}

// SecurityGroupTerm selects security groups.
type SecurityGroupTerm struct {
	Tags map[string]string `json:"tags,omitzero"`
	ID   *string           `json:"id,omitzero"`
	Name *string           `json:"name,omitzero"`
}

// CapacityReservationTerm selects capacity reservations.
type CapacityReservationTerm struct {
	Tags                  map[string]string `json:"tags,omitzero"`
	ID                    *string           `json:"id,omitzero"`
	OwnerID               *string           `json:"ownerID,omitzero"`
	InstanceMatchCriteria *string           `json:"instanceMatchCriteria,omitzero"`
}

// PlacementGroupSelector selects a placement group.
type PlacementGroupSelector struct {
	Name *string `json:"name,omitzero"`
	ID   *string `json:"id,omitzero"`
}

// AMITerm selects images.
type AMITerm struct {
	Alias        *string           `json:"alias,omitzero"`
	Tags         map[string]string `json:"tags,omitzero"`
	ID           *string           `json:"id,omitzero"`
	Name         *string           `json:"name,omitzero"`
	Owner        *string           `json:"owner,omitzero"`
	SSMParameter *string           `json:"ssmParameter,omitzero"`
}

// KubeletConfiguration is the part of the kubelet's configuration that a class
// may set.
type KubeletConfiguration struct {
	ClusterDNS                  []string                   `json:"clusterDNS,omitzero"`
	MaxPods                     *int32                     `json:"maxPods,omitzero"`
	PodsPerCore                 *int32                     `json:"podsPerCore,omitzero"`
	SystemReserved              map[string]string          `json:"systemReserved,omitzero"`
	KubeReserved                map[string]string          `json:"kubeReserved,omitzero"`
	EvictionHard                map[string]string          `json:"evictionHard,omitzero"`
	EvictionSoft                map[string]string          `json:"evictionSoft,omitzero"`
	EvictionSoftGracePeriod     map[string]metav1.Duration `json:"evictionSoftGracePeriod,omitzero"`
	EvictionMaxPodGracePeriod   *int32                     `json:"evictionMaxPodGracePeriod,omitzero"`
	ImageGCHighThresholdPercent *int32                     `json:"imageGCHighThresholdPercent,omitzero"`
	ImageGCLowThresholdPercent  *int32                     `json:"imageGCLowThresholdPercent,omitzero"`
	CPUCFSQuota                 *bool                      `json:"cpuCFSQuota,omitzero"`
}

// BlockDeviceMapping is a disk.
type BlockDeviceMapping struct {
	DeviceName *string      `json:"deviceName,omitzero"`
	EBS        *BlockDevice `json:"ebs,omitzero"`
	RootVolume *bool        `json:"rootVolume,omitzero"`
}

// BlockDevice is an EBS volume.
type BlockDevice struct {
	DeleteOnTermination      *bool     `json:"deleteOnTermination,omitzero"`
	Encrypted                *bool     `json:"encrypted,omitzero"`
	IOPS                     *int64    `json:"iops,omitzero"`
	KMSKeyID                 *string   `json:"kmsKeyID,omitzero"`
	SnapshotID               *string   `json:"snapshotID,omitzero"`
	Throughput               *int64    `json:"throughput,omitzero"`
	VolumeInitializationRate *int32    `json:"volumeInitializationRate,omitzero"`
	VolumeSize               *Quantity `json:"volumeSize,omitzero"`
	VolumeType               *string   `json:"volumeType,omitzero"`
}

// MetadataOptions are those of the instance metadata service.
type MetadataOptions struct {
	HTTPEndpoint            *string `json:"httpEndpoint,omitzero"`
	HTTPProtocolIPv6        *string `json:"httpProtocolIPv6,omitzero"`
	HTTPPutResponseHopLimit *int64  `json:"httpPutResponseHopLimit,omitzero"`
	HTTPTokens              *string `json:"httpTokens,omitzero"`
}

// NetworkInterface is an interface of an instance at its launch.
type NetworkInterface struct {
	NetworkCardIndex *int32  `json:"networkCardIndex"`
	DeviceIndex      *int32  `json:"deviceIndex"`
	InterfaceType    *string `json:"interfaceType"`
}

// ConnectionTracking are the idle timeouts of the interfaces, in seconds.
type ConnectionTracking struct {
	TCPEstablishedTimeout *int32 `json:"tcpEstablishedTimeout,omitzero"`
	UDPStreamTimeout      *int32 `json:"udpStreamTimeout,omitzero"`
	UDPTimeout            *int32 `json:"udpTimeout,omitzero"`
}

// CPUOptions are features of the processor that are off by default.
type CPUOptions struct {
	NestedVirtualization *string `json:"nestedVirtualization,omitzero"`
}

// EC2NodeClassStatus is what the selectors were resolved to.
type EC2NodeClassStatus struct {
	Subnets              []SubnetStatus              `json:"subnets,omitzero"`
	SecurityGroups       []SecurityGroupStatus       `json:"securityGroups,omitzero"`
	AMIs                 []AMIStatus                 `json:"amis,omitzero"`
	CapacityReservations []CapacityReservationStatus `json:"capacityReservations,omitzero"`
	InstanceProfile      string                      `json:"instanceProfile,omitzero"`
	Conditions           []metav1.Condition          `json:"conditions,omitzero"`
}

// SubnetStatus is a subnet that was found.
type SubnetStatus struct {
	ID     string `json:"id,omitzero"`
	Zone   string `json:"zone,omitzero"`
	ZoneID string `json:"zoneID,omitzero"`
}

// SecurityGroupStatus is a security group that was found.
type SecurityGroupStatus struct {
	ID   string `json:"id,omitzero"`
	Name string `json:"name,omitzero"`
}

// AMIStatus is an image that was found, and for which types it is.
type AMIStatus struct {
	ID           string        `json:"id,omitzero"`
	Name         string        `json:"name,omitzero"`
	Deprecated   bool          `json:"deprecated,omitzero"`
	Requirements []Requirement `json:"requirements,omitzero"`
}

// CapacityReservationStatus is a capacity reservation that was found.
type CapacityReservationStatus struct {
	ID                    string `json:"id,omitzero"`
	InstanceType          string `json:"instanceType,omitzero"`
	AvailabilityZone      string `json:"availabilityZone,omitzero"`
	ReservationType       string `json:"reservationType,omitzero"`
	InstanceMatchCriteria string `json:"instanceMatchCriteria,omitzero"`
	OwnerID               string `json:"ownerID,omitzero"`
	EndTime               string `json:"endTime,omitzero"`
	State                 string `json:"state,omitzero"`
	Interruptible         bool   `json:"interruptible,omitzero"`
	// AvailableInstanceCount is not part of the public status; whoever fills it
	// in knows how many instances are free.
	AvailableInstanceCount int64 `json:"availableInstanceCount,omitzero"`
}
