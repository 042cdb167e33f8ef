package api

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	maxTerms      = 30
	maxTermTags   = 20
	maxDisks      = 50
	maxInterfaces = 150

	efaOnly = "efa-only"
	custom  = "Custom"
)

// amiFamilies maps the family of an alias to the value of amiFamily.
var amiFamilies = map[string]string{
	"al2":          "AL2",
	"al2023":       "AL2023",
	"bottlerocket": "Bottlerocket",
	"windows2019":  "Windows2019",
	"windows2022":  "Windows2022",
	"windows2025":  "Windows2025",
}

// checkClass applies the rules for the spec of an EC2NodeClass.
func checkClass(s *EC2NodeClassSpec, r *reporter) {
	checkSubnetTerms(s.SubnetSelectorTerms, r)
	checkSecurityGroupTerms(s.SecurityGroupSelectorTerms, r)
	checkReservationTerms(s.CapacityReservationSelectorTerms, r)
	checkPlacementGroup(s.PlacementGroupSelector, r)
	checkImages(s, r)
	checkIdentity(s, r)
	checkTags(s.Tags, r)
	checkDisks(s.BlockDeviceMappings, r)
	checkInterfaces(s.NetworkInterfaces, r)
	checkMetadataOptions(s.MetadataOptions, r)
	checkConnectionTracking(s, r)
	checkKubelet(s, r)
	notNegative(r, "spec.ipPrefixCount", s.IPPrefixCount)
	if s.InstanceStorePolicy != nil {
		r.oneOf("spec.instanceStorePolicy", *s.InstanceStorePolicy, "RAID0")
	}
	if s.CPUOptions != nil && s.CPUOptions.NestedVirtualization != nil {
		r.oneOf("spec.cpuOptions.nestedVirtualization", *s.CPUOptions.NestedVirtualization, "enabled", "disabled")
	}
}

// idRule is the form that the ids of a kind of resource have.
type idRule struct {
	prefix  string
	pattern *regexp.Regexp
	// loose is what the schema takes, where it does not bind the pattern to both
	// ends; nil where it does.
	loose *regexp.Regexp
}

func newIDRule(prefix string) idRule {
	return idRule{prefix: prefix, pattern: regexp.MustCompile(`^` + prefix + `-[0-9a-z]+$`)}
}

func newLooseIDRule(prefix string) idRule {
	rule := newIDRule(prefix)
	rule.loose = regexp.MustCompile(prefix + `-[0-9a-z]`)
	return rule
}

var (
	subnetID      = newLooseIDRule("subnet")
	groupID       = newLooseIDRule("sg")
	imageID       = newLooseIDRule("ami")
	reservationID = newIDRule("cr")
	placementID   = newIDRule("pg")
	ownerPattern  = regexp.MustCompile(`^[0-9]{12}$`)
)

// check wants an id of that form; nil is fine. It warns of what is no id and yet
// passes the schema.
func (rule idRule) check(id *string, path string, r *reporter) {
	if id == nil || rule.pattern.MatchString(*id) {
		return
	}
	message := strconv.Quote(shorten(*id)) + " is not an id; it must be " + rule.prefix + "- followed by lower-case letters and digits"
	if rule.loose != nil && rule.loose.MatchString(*id) {
		r.warn(path, message)
		return
	}
	r.add(path, message)
}

// checkTerms applies what all lists of selector terms have in common.
func checkTerms(path string, isNil bool, n int, required bool, mend string, r *reporter) {
	switch {
	case required && isNil:
		r.missing(path, mend)
	case required && n == 0:
		r.add(path, "is empty; "+mend)
	}
	r.atMost(path, n, maxTerms)
}

// checkTermTags applies the rules for the tags of a selector term.
func checkTermTags(tags map[string]string, path string, r *reporter) {
	r.atMost(path, len(tags), maxTermTags)
	for _, k := range sortedKeys(tags) {
		if k == "" {
			r.add(path, "has an empty key; name the tag")
		} else if tags[k] == "" {
			r.add(key(path, k), `is empty; write "*" to select whatever has the tag`)
		}
	}
}

// alone wants that a field stands in its term alone, or without some others.
func alone(r *reporter, path, name string, others ...string) {
	if len(others) > 0 {
		r.add(field(path, name), "may not stand in one term with "+strings.Join(others, ", ")+"; put them into terms of their own")
	}
}

// exclusive is the rule that a field excludes others of its term. The schema
// refuses a list in which every term breaks it, and lets a list pass in which
// some do: those are warned of.
type exclusive struct {
	name   string
	broken []brokenTerm
}

type brokenTerm struct {
	at     string
	others []string
}

// see notes a term that has the field and others with it.
func (e *exclusive) see(at string, has bool, others ...fieldGiven) {
	if names := given(others...); has && len(names) > 0 {
		e.broken = append(e.broken, brokenTerm{at, names})
	}
}

// report tells of the broken ones among n terms.
func (e *exclusive) report(n int, r *reporter) {
	for _, b := range e.broken {
		if len(e.broken) == n {
			alone(r, b.at, e.name, b.others...)
			continue
		}
		r.warn(field(b.at, e.name), "stands in one term with "+strings.Join(b.others, ", ")+", so that only what has both is selected; put them into terms of their own")
	}
}

// given names the fields that are there.
func given(fields ...fieldGiven) []string {
	var out []string
	for _, f := range fields {
		if f.is {
			out = append(out, f.name)
		}
	}
	return out
}

type fieldGiven struct {
	name string
	is   bool
}

func checkSubnetTerms(terms []SubnetTerm, r *reporter) {
	const path = "spec.subnetSelectorTerms"
	id := exclusive{name: "id"}
	checkTerms(path, terms == nil, len(terms), true, "select subnets by tags or id, such as - tags: {karpenter.sh/discovery: my-cluster}", r)
	for i, t := range terms {
		at := index(path, i)
		if t.Tags == nil && t.ID == nil {
			r.add(at, "selects nothing; write tags or id")
		}
		checkTermTags(t.Tags, field(at, "tags"), r)
		subnetID.check(t.ID, field(at, "id"), r)
		id.see(at, t.ID != nil, fieldGiven{"tags", t.Tags != nil})
	}
	id.report(len(terms), r)
}

func checkSecurityGroupTerms(terms []SecurityGroupTerm, r *reporter) {
	const path = "spec.securityGroupSelectorTerms"
	id, name := exclusive{name: "id"}, exclusive{name: "name"}
	checkTerms(path, terms == nil, len(terms), true, "select security groups by tags, id or name, such as - tags: {karpenter.sh/discovery: my-cluster}", r)
	for i, t := range terms {
		at := index(path, i)
		if t.Tags == nil && t.ID == nil && t.Name == nil {
			r.add(at, "selects nothing; write tags, id or name")
		}
		checkTermTags(t.Tags, field(at, "tags"), r)
		groupID.check(t.ID, field(at, "id"), r)
		id.see(at, t.ID != nil, fieldGiven{"tags", t.Tags != nil}, fieldGiven{"name", t.Name != nil})
		name.see(at, t.Name != nil, fieldGiven{"tags", t.Tags != nil}, fieldGiven{"id", t.ID != nil})
	}
	id.report(len(terms), r)
	if len(id.broken) < len(terms) { // or all has been said
		name.report(len(terms), r)
	}
}

func checkReservationTerms(terms []CapacityReservationTerm, r *reporter) {
	const path = "spec.capacityReservationSelectorTerms"
	id := exclusive{name: "id"}
	checkTerms(path, terms == nil, len(terms), false, "", r)
	for i, t := range terms {
		at := index(path, i)
		if t.Tags == nil && t.ID == nil && t.InstanceMatchCriteria == nil {
			r.add(at, "selects nothing; write tags, id or instanceMatchCriteria")
		}
		checkTermTags(t.Tags, field(at, "tags"), r)
		reservationID.check(t.ID, field(at, "id"), r)
		id.see(at, t.ID != nil, fieldGiven{"tags", t.Tags != nil}, fieldGiven{"ownerID", t.OwnerID != nil},
			fieldGiven{"instanceMatchCriteria", t.InstanceMatchCriteria != nil})
		if t.OwnerID != nil && !ownerPattern.MatchString(*t.OwnerID) {
			r.addf(field(at, "ownerID"), "%q is not the id of an account; it must be 12 digits in quotes", shorten(*t.OwnerID))
		}
		if t.InstanceMatchCriteria != nil {
			r.oneOf(field(at, "instanceMatchCriteria"), *t.InstanceMatchCriteria, "open", "targeted")
		}
	}
	id.report(len(terms), r)
}

func checkPlacementGroup(g *PlacementGroupSelector, r *reporter) {
	const path = "spec.placementGroupSelector"
	if g == nil {
		return
	}
	if (g.Name != nil) == (g.ID != nil) {
		r.add(path, "must have exactly one of name and id")
	}
	if g.Name != nil && *g.Name == "" {
		r.add(path+".name", "is empty; write the name of the placement group")
	}
	placementID.check(g.ID, path+".id", r)
}

// checkImages applies the rules for amiSelectorTerms and amiFamily, which depend
// on each other.
func checkImages(s *EC2NodeClassSpec, r *reporter) {
	const path = "spec.amiSelectorTerms"
	checkTerms(path, s.AMISelectorTerms == nil, len(s.AMISelectorTerms), true, "select images, such as - alias: al2023@latest", r)
	family := ""
	for i := range s.AMISelectorTerms {
		t, at := &s.AMISelectorTerms[i], index(path, i)
		checkImageTerm(t, at, r)
		if t.Alias == nil {
			continue
		}
		if len(s.AMISelectorTerms) > 1 {
			r.add(field(at, "alias"), "must be the only term where it is used; take the other terms out, or select by id, name or tags")
		}
		family = checkAlias(*t.Alias, field(at, "alias"), r)
	}
	checkFamily(s, family, r)
}

// checkImageTerm applies the rules for one term.
func checkImageTerm(t *AMITerm, at string, r *reporter) {
	if t.Tags == nil && t.ID == nil && t.Name == nil && t.Alias == nil && t.SSMParameter == nil {
		r.add(at, "selects nothing; write alias, tags, id, name or ssmParameter")
	}
	checkTermTags(t.Tags, field(at, "tags"), r)
	imageID.check(t.ID, field(at, "id"), r)
	others := []fieldGiven{{"tags", t.Tags != nil}, {"name", t.Name != nil}, {"owner", t.Owner != nil}}
	switch {
	case t.ID != nil:
		alone(r, at, "id", given(append(others, fieldGiven{"alias", t.Alias != nil})...)...)
	case t.Alias != nil:
		alone(r, at, "alias", given(others...)...)
	}
}

var aliasPattern = regexp.MustCompile(`^[a-zA-Z0-9]+@.+$`)

// checkAlias applies the rules for an alias and returns the amiFamily that goes
// with it, "" when there is none.
func checkAlias(alias, path string, r *reporter) string {
	name, version, _ := strings.Cut(alias, "@")
	families := sortedKeys(amiFamilies)
	switch {
	case len(alias) > 30:
		r.addf(path, "has %d characters; at most 30 are allowed", len(alias))
	case !aliasPattern.MatchString(alias):
		r.addf(path, "%q is not an alias; write family@version, such as al2023@latest, where the family is %s", shorten(alias), orList(families))
	case amiFamilies[name] == "":
		message := strconv.Quote(name) + " is not a family; it must be " + orList(families)
		if near := nearest(name, families); near != "" {
			message += `; did you mean "` + near + "@" + version + `"?`
		}
		r.add(path, message)
	case strings.HasPrefix(name, "windows") && version != "latest":
		r.addf(path, "Windows images have no versions that can be chosen; write %s@latest", name)
	}
	return amiFamilies[name]
}

// checkFamily applies the rules for amiFamily, given the family of the alias.
func checkFamily(s *EC2NodeClassSpec, alias string, r *reporter) {
	const path = "spec.amiFamily"
	known := []string{"AL2", "AL2023", "Bottlerocket", custom, "Windows2019", "Windows2022", "Windows2025"}
	hasAlias := slices.ContainsFunc(s.AMISelectorTerms, func(t AMITerm) bool { return t.Alias != nil })
	switch {
	case s.AMIFamily == nil && !hasAlias:
		r.missing(path, "without an alias in amiSelectorTerms it must be "+orList(known))
	case s.AMIFamily == nil || !r.oneOf(path, *s.AMIFamily, known...):
	case alias != "" && *s.AMIFamily != alias && *s.AMIFamily != custom:
		r.addf(path, "%q does not go with the alias; write %s or %s, or leave it out", *s.AMIFamily, alias, custom)
	}
}

// checkIdentity wants exactly one of role and instanceProfile.
func checkIdentity(s *EC2NodeClassSpec, r *reporter) {
	if s.Role == nil && s.InstanceProfile == nil {
		r.add("spec", "needs one of role and instanceProfile; write the name of the IAM role of the nodes")
	}
	if s.Role != nil && s.InstanceProfile != nil {
		r.add("spec.instanceProfile", "may not be set together with role; take one of the two out")
	}
	if s.Role != nil && *s.Role == "" {
		r.add("spec.role", "is empty; write the name of the IAM role of the nodes")
	}
	if s.InstanceProfile != nil && *s.InstanceProfile == "" {
		r.add("spec.instanceProfile", "is empty; write the name of the instance profile of the nodes")
	}
}

// reservedTags are the tags that instances get by themselves, of which one is a
// beginning.
var reservedTags = []string{"eks:eks-cluster-name", "karpenter.sh/nodepool", "karpenter.sh/nodeclaim", "karpenter.k8s.aws/ec2nodeclass"}

func checkTags(tags map[string]string, r *reporter) {
	const path = "spec.tags"
	for _, k := range sortedKeys(tags) {
		switch {
		case k == "":
			r.add(path, "has an empty key; name the tag")
		case slices.Contains(reservedTags, k), strings.HasPrefix(k, "kubernetes.io/cluster"):
			r.add(key(path, k), "is a tag that every instance gets by itself; take it out")
		}
	}
}
