package api

import (
	"strconv"
	"strings"
)

// Kinds that are not read, and among them those that look as if they were meant
// to be: older versions of the custom resources, and names that are misspelt.

// oldField is a field of an older version and what became of it.
type oldField struct{ path, now string }

// oldKind is a kind of an older version.
type oldKind struct {
	now    string // the kind that took its place, with its version
	fields []oldField
}

const convertFirst = "; convert it first: this program reads no older versions"

var oldPoolFields = []oldField{
	{"spec.template.spec.nodeClassRef.apiVersion", "is now spec.template.spec.nodeClassRef.group: karpenter.k8s.aws"},
	{"spec.template.spec.kubelet", "is now spec.kubelet of the EC2NodeClass"},
	{"spec.template.spec.resources", "is gone"},
	{"spec.disruption.expireAfter", "is now spec.template.spec.expireAfter"},
	{"spec.disruption.consolidationPolicy", "is now WhenEmptyOrUnderutilized in place of WhenUnderutilized, and consolidateAfter is required with it"},
}

// oldKinds are the older versions, by "apiVersion/Kind".
var oldKinds = map[string]oldKind{
	"karpenter.sh/v1beta1/NodePool": {versionPool + " NodePool", oldPoolFields},
	"karpenter.sh/v1beta1/NodeClaim": {versionPool + " NodeClaim", []oldField{
		{"spec.nodeClassRef.apiVersion", "is now spec.nodeClassRef.group: karpenter.k8s.aws"},
		{"spec.kubelet", "is now spec.kubelet of the EC2NodeClass"},
	}},
	"karpenter.k8s.aws/v1beta1/EC2NodeClass": {versionClass + " EC2NodeClass", []oldField{
		{"spec.amiFamily", "is now optional, and spec.amiSelectorTerms is required, such as - alias: al2023@latest"},
		{"spec.metadataOptions", "has another default: httpPutResponseHopLimit is 1 and no longer 2"},
		{"spec.tags", "may no longer hold the tags that instances get by themselves"},
	}},
	"karpenter.sh/v1alpha5/Provisioner": {versionPool + " NodePool", []oldField{
		{"spec.requirements", "is now spec.template.spec.requirements"},
		{"spec.labels", "is now spec.template.metadata.labels"},
		{"spec.annotations", "is now spec.template.metadata.annotations"},
		{"spec.taints", "is now spec.template.spec.taints"},
		{"spec.startupTaints", "is now spec.template.spec.startupTaints"},
		{"spec.providerRef", "is now spec.template.spec.nodeClassRef with group, kind and name"},
		{"spec.provider", "is now an EC2NodeClass of its own"},
		{"spec.kubeletConfiguration", "is now spec.kubelet of the EC2NodeClass"},
		{"spec.limits.resources", "is now spec.limits"},
		{"spec.ttlSecondsAfterEmpty", "is now spec.disruption with consolidationPolicy: WhenEmpty and consolidateAfter"},
		{"spec.ttlSecondsUntilExpired", "is now spec.template.spec.expireAfter"},
		{"spec.consolidation", "is now spec.disruption.consolidationPolicy"},
	}},
	"karpenter.sh/v1alpha5/Machine": {versionPool + " NodeClaim", []oldField{
		{"spec.machineTemplateRef", "is now spec.nodeClassRef with group, kind and name"},
		{"spec.kubelet", "is now spec.kubelet of the EC2NodeClass"},
	}},
	"karpenter.k8s.aws/v1alpha1/AWSNodeTemplate": {versionClass + " EC2NodeClass", []oldField{
		{"spec.subnetSelector", "is now spec.subnetSelectorTerms, a list"},
		{"spec.securityGroupSelector", "is now spec.securityGroupSelectorTerms, a list"},
		{"spec.amiSelector", "is now spec.amiSelectorTerms, a list"},
		{"spec.amiFamily", "is now optional, and spec.amiSelectorTerms is required, such as - alias: al2023@latest"},
		{"spec.instanceProfile", "may stay; spec.role can take its place"},
		{"spec.launchTemplate", "is gone; write what it holds into the class"},
	}},
}

// foreign takes an object of a kind that is not read.
func (l *loader) foreign(o *Object) {
	id := o.APIVersion + "/" + o.Kind
	if old, ok := oldKinds[id]; ok {
		l.refuseOld(o, old)
		return
	}
	group, version := splitVersion(o.APIVersion)
	if group == groupPool || group == groupClass {
		l.refuseVersion(o, group, version)
		return
	}
	if near := nearKind(o.APIVersion, o.Kind); near != "" {
		l.rep.warn("", "is ignored: "+o.APIVersion+" "+o.Kind+" is not read; did you mean "+near+"?")
	}
	l.result.Ignored[id]++
}

// refuseOld reports an older version, with the fields of the object that have
// changed since.
func (l *loader) refuseOld(o *Object, old oldKind) {
	l.rep.add("apiVersion", strconv.Quote(o.APIVersion)+" "+o.Kind+" is an older version of "+old.now+convertFirst)
	for _, f := range old.fields {
		if hasField(o.Raw, strings.Split(f.path, ".")) {
			l.rep.add(f.path, f.now)
		}
	}
}

// hasField tells whether an object has a field, given by the names on the way
// to it.
func hasField(raw []byte, path []string) bool {
	found := false
	eachMember(raw, func(name string, value []byte) {
		if name == path[0] {
			found = len(path) == 1 || hasField(value, path[1:])
		}
	})
	return found
}

// refuseVersion reports a kind or a version that the groups of the custom
// resources do not have.
func (l *loader) refuseVersion(o *Object, group, version string) {
	var kinds, versions []string
	for _, id := range sortedKeys(ownKinds) {
		g, v, k := splitID(id)
		if k == o.Kind {
			l.rep.addf("apiVersion", "%q is not known for %s; write %s/%s", o.APIVersion, o.Kind, g, v)
			return
		}
		if g == group {
			kinds, versions = append(kinds, k), append(versions, g+"/"+v)
		}
	}
	message := strconv.Quote(o.Kind) + " is not a kind of " + group + "; " + suggest(o.Kind, kinds)
	for i, k := range kinds {
		if k == nearest(o.Kind, kinds) && versions[i] != group+"/"+version {
			message += " (" + versions[i] + ")"
		}
	}
	l.rep.add("kind", message)
}

// splitID takes "group/version/Kind" apart, or "version/Kind" of the core
// group.
func splitID(id string) (group, version, kind string) {
	i := strings.LastIndexByte(id, '/')
	group, version = splitVersion(id[:i])
	return group, version, id[i+1:]
}

// nearKind names the known kind that an ignored one resembles: the same in
// another version, or in other letters. "" when there is none.
func nearKind(apiVersion, kind string) string {
	group, _ := splitVersion(apiVersion)
	moved, hasMoved := movedTo[group]
	for _, id := range sortedKeys(coreKinds) {
		g, v, k := splitID(id)
		if g == group && strings.EqualFold(k, kind) || k == kind && hasMoved && g == moved {
			if g != "" {
				v = g + "/" + v
			}
			return v + " " + k
		}
	}
	return ""
}

// movedTo maps groups that no longer exist to those that took their kinds.
var movedTo = map[string]string{"extensions": "apps"}

// versionFor is the apiVersion that goes with a kind, for messages.
func versionFor(kind string) string {
	for _, id := range sortedKeys(ownKinds) {
		if _, _, k := splitID(id); k == kind {
			return strings.TrimSuffix(id, "/"+kind)
		}
	}
	for _, id := range sortedKeys(coreKinds) {
		if _, _, k := splitID(id); k == kind {
			return strings.TrimSuffix(id, "/"+kind)
		}
	}
	return "v1"
}
