package source

import (
	"strings"

	"github.com/dovetail-sh/dovetail/internal/catalog"
)

// What follows stands in for two facts that the files do not have and the AWS
// APIs do: how many volumes an instance store has (InstanceStorageInfo.Disks) and
// how many EBS volumes attach (EbsInfo). Both only matter to how many volumes a
// new node takes; where the public documentation leaves a doubt, the smaller
// number is taken.

// diskGB is the size of one instance store volume at the largest size of a
// family, in decimal gigabytes, where it is not the one of its time. Source: the
// instance store tables of the EC2 instance types guide.
var diskGB = map[string]int64{
	"d3": 1980, "d3en": 13980, "i3": 1900, "i3en": 7500, "i4i": 3750, "i4g": 3750,
	"i7i": 3750, "i7ie": 7500, "i8g": 3750, "i8ge": 7500, "im4gn": 7500, "is4gen": 7500,
	"p4d": 1000, "p4de": 1000, "p5": 3840, "p5e": 3840, "p5en": 3840,
	"g5": 3800, "g6": 940, "trn1": 1900, "trn1n": 1900, "x2gd": 1900, "x2idn": 1900, "x2iedn": 1900,
}

// localDisks estimates the number of instance store volumes: NVMe volumes were of
// 900 GB up to the fifth generation and are of 1,900 GB since.
func localDisks(f *catalog.Facts) int64 {
	if f.LocalNVMeGB == 0 {
		return 0
	}
	family, _, _ := strings.Cut(f.Name, ".")
	size, known := diskGB[family]
	if !known {
		size = 900
		if catalog.Generation(f.Name) >= 6 {
			size = 1900
		}
	}
	return (f.LocalNVMeGB + size - 1) / size
}

// ownLimit lists the families that are documented to have a limit for EBS volumes
// alone. Source: "Amazon EBS volume limits for Amazon EC2 instances" in the EC2
// user guide (docs.aws.amazon.com/AWSEC2/latest/UserGuide/volume_limits.html).
var ownLimit = map[string]bool{
	"m7a": true, "m7i": true, "m7i-flex": true, "m8g": true,
	"c7a": true, "c7i": true, "c7i-flex": true, "c8g": true,
	"r7a": true, "r7i": true, "r7iz": true, "r8g": true, "x8g": true,
	"i7ie": true, "i8g": true,
	"u7i-6tb": true, "u7i-8tb": true, "u7i-12tb": true, "u7in-16tb": true, "u7in-24tb": true, "u7in-32tb": true,
	"f2": true, "g6": true, "g6e": true, "gr6": true, "p5": true, "p5e": true, "p5en": true, "trn2": true,
	"hpc7a": true,
}

// ownLimitBySize is the limit of those families by size, from the same page. A
// size that it does not list has smallestOwnLimit.
var ownLimitBySize = map[string]int64{
	"16xlarge": 48, "24xlarge": 64, "32xlarge": 88, "48xlarge": 128,
	"metal-16xl": 39, "metal-24xl": 39, "metal-32xl": 79, "metal-48xl": 79,
}

const smallestOwnLimit = 32

// ebsVolumes is the limit of a type for EBS volumes alone, root included, or 0
// where they share the slots of the Nitro system. The page lags behind the types:
// one of the eighth generation and later that it does not list yet has such a
// limit too, and is given the smallest.
func ebsVolumes(f *catalog.Facts) int64 {
	family, size, _ := strings.Cut(f.Name, ".")
	switch {
	case f.Hypervisor == "xen":
		return 0
	case ownLimit[family]:
		return max(smallestOwnLimit, ownLimitBySize[size])
	case catalog.Generation(f.Name) >= 8:
		return smallestOwnLimit
	}
	return 0
}
