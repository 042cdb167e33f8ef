package api

import (
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

var maxQuantity = *resource.NewQuantity(math.MaxInt64, resource.DecimalSI)

// amountOf converts a quantity to the unit of its resource, rounded up. When
// that cannot be done it says why, with a mend; problem is "" when all is well.
func amountOf(name string, q resource.Quantity) (amount int64, problem string) {
	if q.Sign() < 0 {
		return 0, `"` + q.String() + `" is negative; use 0 or more`
	}
	scale := resource.Scale(0)
	limit := maxQuantity
	if name == cluster.CPU {
		scale = resource.Milli
		limit = *resource.NewMilliQuantity(math.MaxInt64, resource.DecimalSI)
	}
	if q.Cmp(limit) > 0 {
		return 0, `"` + q.String() + `" is more than can be counted; the most is ` + limit.String()
	}
	return q.ScaledValue(scale), ""
}

// resourcesOf converts a resource list, ordered by name, and reports amounts
// that cannot be used at path.
func resourcesOf(list corev1.ResourceList, path string, rep *reporter) cluster.Resources {
	if len(list) == 0 {
		return nil
	}
	out := make(cluster.Resources, 0, len(list))
	for name, q := range list {
		amount, problem := amountOf(string(name), q)
		if problem != "" {
			rep.add(key(path, string(name)), problem)
			continue
		}
		out = append(out, cluster.Resource{Name: string(name), Amount: amount})
	}
	slices.SortFunc(out, func(a, b cluster.Resource) int { return strings.Compare(a.Name, b.Name) })
	return out
}
