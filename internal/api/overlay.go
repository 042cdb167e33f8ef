package api

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// readNodeOverlay decodes, validates and converts a NodeOverlay.
func readNodeOverlay(l *loader, o *Object) any {
	in := &NodeOverlay{}
	before := l.rep.count()
	decodeStrict(o.Raw, in, l.rep)
	checkMeta(&in.Metadata, l.rep)
	if in.Spec == nil {
		l.rep.missing("spec", "a NodeOverlay says in it which types it changes, and how")
		return nil
	}
	s := in.Spec
	out := cluster.NodeOverlay{
		Name:         in.Metadata.Name,
		Requirements: checkRequirements(overlayRequirements(s.Requirements), "spec.requirements", inOverlay, l.rep),
	}
	checkPrices(s, &out, l.rep)
	checkCapacity(s, &out, l.rep)
	if s.Weight != nil && l.rep.within("spec.weight", int64(*s.Weight), 1, 10000) {
		out.Weight = *s.Weight
	}
	if s.Price == nil && s.PriceAdjustment == nil && len(s.Capacity) == 0 {
		l.rep.warn("spec", "changes nothing; write price, priceAdjustment or capacity")
	}
	if l.rep.count() > before {
		return nil
	}
	l.overlays = append(l.overlays, len(l.result.Objects)-1)
	l.result.Snapshot.Overlays = append(l.result.Snapshot.Overlays, out)
	return in
}

// overlayRequirements are the requirements in the form of those of a pool.
func overlayRequirements(list []OverlayRequirement) []Requirement {
	if list == nil {
		return nil
	}
	out := make([]Requirement, 0, len(list))
	for _, q := range list {
		out = append(out, Requirement{Key: q.Key, Operator: q.Operator, Values: q.Values})
	}
	return out
}

var (
	pricePattern      = regexp.MustCompile(`^\d+(\.\d+)?$`)
	adjustmentPattern = regexp.MustCompile(`^(([+-](\d*\.?\d+))|(\+\d*\.?\d+%)|(-\d{1,2}(\.\d+)?%)|(-100%))$`)
)

// checkPrices applies the rules for price and priceAdjustment.
func checkPrices(s *NodeOverlaySpec, out *cluster.NodeOverlay, r *reporter) {
	if s.Price != nil && s.PriceAdjustment != nil {
		r.add("spec.priceAdjustment", "may not be set together with price; take one of the two out")
	}
	if p := s.Price; p != nil {
		f, err := strconv.ParseFloat(*p, 64)
		if !pricePattern.MatchString(*p) || err != nil {
			r.addf("spec.price", `%q is not a price; write dollars an hour as a decimal in quotes, such as "0.25"`, shorten(*p))
		}
		out.Price = &f
	}
	if p := s.PriceAdjustment; p != nil {
		number, percent := strings.CutSuffix(*p, "%")
		f, err := strconv.ParseFloat(number, 64)
		if !adjustmentPattern.MatchString(*p) || err != nil {
			r.addf("spec.priceAdjustment", `%q is not an adjustment; write a sign and dollars an hour, such as "+0.25" or "-0.1", or a sign and a percentage down to -100%%, such as "+10%%" or "-12.5%%"%s`,
				shorten(*p), mendAdjustment(*p))
		}
		out.Adjustment, out.Percent = &f, percent
	}
}

// mendAdjustment says what was probably meant, "" where it cannot.
func mendAdjustment(p string) string {
	if more := "+" + strings.TrimSpace(p); adjustmentPattern.MatchString(more) {
		return `; did you mean "` + more + `"?`
	}
	return ""
}

// fixedResources are the resources that are the machine's own and not to be
// changed.
var fixedResources = []string{cluster.CPU, cluster.Memory, cluster.EphemeralStorage, cluster.Pods}

// checkCapacity applies the rules for capacity.
func checkCapacity(s *NodeOverlaySpec, out *cluster.NodeOverlay, r *reporter) {
	out.Capacity = quantities(s.Capacity, "spec.capacity", r)
	for _, name := range fixedResources {
		if _, ok := s.Capacity[name]; ok {
			r.add(key("spec.capacity", name), "may not be changed: an overlay adds extended resources only, such as example.com/device; not "+orList(fixedResources))
		}
	}
}
