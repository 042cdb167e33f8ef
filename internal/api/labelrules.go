package api

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// keyUse says where a label key stands, on which it depends what is allowed.
type keyUse uint8

const (
	inPool    keyUse = iota // a NodePool's template: labels and requirements
	inClaim                 // a NodeClaim, which says of which pool it is
	inOverlay               // a NodeOverlay, which may be for one pool
)

// allowedDomainKeys are the keys of restricted domains that may be used.
var allowedDomainKeys = []struct {
	domain string
	keys   []string
}{
	{groupPool, []string{cluster.LabelCapacityType}},
	{groupClass, append(slices.Clone(cluster.AWSLabels), cluster.LabelNodeClass)},
}

// checkUse reports a label key that may not be set or required there.
func checkUse(k, path string, use keyUse, r *reporter) {
	switch {
	case len(k) > 316:
		r.addf(path, "is a key of %d characters; at most 316 are allowed", len(k))
		return
	case k == cluster.LabelHostname:
		r.add(path, "kubernetes.io/hostname may not be used: a name is given to each node when it starts; use it in the pods' spread or affinity instead")
		return
	case k == cluster.LabelNodePool && use == inPool:
		r.add(path, "karpenter.sh/nodepool may not be used: every node of the pool gets it from the pool's name; take it out")
		return
	case k == cluster.LabelNodePool:
		return
	}
	domain, _, _ := strings.Cut(k, "/")
	for _, d := range allowedDomainKeys {
		if strings.HasSuffix(domain, d.domain) && !slices.Contains(d.keys, k) {
			r.add(path, strconv.Quote(k)+" may not be used: the domain "+d.domain+" is reserved, and "+suggestKey(k, d.keys))
			return
		}
	}
}

// suggestKey names the allowed key that was probably meant, or all of them.
func suggestKey(k string, allowed []string) string {
	if near := nearest(k, allowed); near != "" {
		return "of it only well-known labels are allowed; did you mean \"" + near + "\"?"
	}
	// instance-famly without its domain is nearer to the name than to the key.
	if _, name, ok := strings.Cut(k, "/"); ok {
		for _, a := range allowed {
			if _, known, _ := strings.Cut(a, "/"); nearest(name, []string{known, strings.TrimPrefix(known, "instance-")}) != "" {
				return "of it only well-known labels are allowed; did you mean \"" + a + "\"?"
			}
		}
	}
	return "of it only these are allowed: " + listNames(allowed)
}
