package api

import (
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// absurdAmount is more of anything than a machine has (8 PiB, or nine million
// million cores). A pod that asks for more is legal and goes nowhere, and a sum
// of such amounts must not overflow on the way to that finding.
const absurdAmount = int64(1) << 53

// podAmount turns a quantity that a pod asks for into the unit of its resource,
// rounded up. The problem is "" or says what is wrong with it.
func podAmount(name string, q resource.Quantity) (amount int64, problem string) {
	amount, problem = amountOf(name, q)
	if problem == "" && amount == math.MaxInt64 { // where the parser of quantities stops
		return 0, `"` + q.String() + `" is more than can be counted; use less`
	}
	if problem == "" && isWhole(name) && q.CmpInt64(amount) != 0 {
		return 0, `"` + q.String() + `" is not a whole number, and ` + name + " cannot be divided"
	}
	return amount, problem
}

// isWhole tells whether a resource is handed out in whole units only, which is
// the rule for extended resources and for hugepages.
func isWhole(name string) bool {
	return isExtended(name) || strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) || name == cluster.Pods
}

// isExtended tells whether a resource is one of a device or an operator: its
// name has a domain that is not Kubernetes' own.
func isExtended(name string) bool {
	domain, _, ok := strings.Cut(name, "/")
	return ok && !inDomain(domain, "kubernetes.io")
}

// cannotOvercommit tells whether a request must equal its limit.
func cannotOvercommit(name string) bool {
	return isExtended(name) || strings.HasPrefix(name, corev1.ResourceHugePagesPrefix)
}

var containerResources = []string{cluster.CPU, cluster.EphemeralStorage, cluster.Memory}

// isContainerResource tells whether a container may ask for a resource.
func isContainerResource(name string) bool {
	return slices.Contains(containerResources, name) ||
		strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) ||
		strings.Contains(name, "/") && labelKeyProblem(name) == ""
}

// isPodResource tells whether spec.resources of a pod may name a resource.
func isPodResource(name string) bool {
	return name == cluster.CPU || name == cluster.Memory || strings.HasPrefix(name, corev1.ResourceHugePagesPrefix)
}

// tally is a set of amounts while they are being added up. A pod names a
// handful of resources, for which a list is faster than a map.
type tally []cluster.Resource

func (t tally) get(name string) (int64, bool) {
	for i := range t {
		if t[i].Name == name {
			return t[i].Amount, true
		}
	}
	return 0, false
}

func (t *tally) set(name string, amount int64) {
	for i := range *t {
		if (*t)[i].Name == name {
			(*t)[i].Amount = amount
			return
		}
	}
	*t = append(*t, cluster.Resource{Name: name, Amount: amount})
}

// add sums name by name and stops at the largest amount there is, which
// overflowed tells afterwards.
func (t *tally) add(o tally) {
	for _, x := range o {
		have, _ := t.get(x.Name)
		if have > math.MaxInt64-x.Amount {
			t.set(x.Name, math.MaxInt64)
			continue
		}
		t.set(x.Name, have+x.Amount)
	}
}

func (t *tally) max(o tally) {
	for _, x := range o {
		if have, ok := t.get(x.Name); !ok || x.Amount > have {
			t.set(x.Name, x.Amount)
		}
	}
}

// overflowed names a resource whose sum is beyond counting, "" when none is.
func (t tally) overflowed() string {
	for _, x := range t {
		if x.Amount == math.MaxInt64 {
			return x.Name
		}
	}
	return ""
}

// resources orders the amounts and leaves out those of 0.
func (t tally) resources() cluster.Resources {
	out := make(cluster.Resources, 0, len(t))
	for _, x := range t {
		if x.Amount != 0 {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b cluster.Resource) int { return strings.Compare(a.Name, b.Name) })
	return out
}
