package plan

import (
	"errors"
	"fmt"
	"strings"
)

// MostViolations is how many violations Check tells one by one.
const MostViolations = 20

// Rule names an invariant of a proposal.
type Rule string

// The rules, as Check says them.
const (
	RuleRecords      Rule = "records"       // report, writes and preconditions agree
	RulePlacement    Rule = "placement"     // each waiting pod is placed once or left out
	RuleChoice       Rule = "choice"        // what a new node may be is offered
	RulePrice        Rule = "price"         // prices are true and least
	RuleSums         Rule = "sums"          // what the report adds up is right
	RuleNodePool     Rule = "node pool"     // the pool's requirements and template are kept
	RuleMinValues    Rule = "minValues"     // enough different values to choose from
	RuleLimits       Rule = "limits"        // of NodePools
	RuleReservations Rule = "reservations"  // reserved capacity is there
	RuleResources    Rule = "resources"     // pods and daemons fit
	RuleTaints       Rule = "taints"        // pods tolerate them
	RuleNodeAffinity Rule = "node affinity" // node selectors and required node affinity match
	RuleHostPorts    Rule = "host ports"    // no two pods want the same
	RuleVolumes      Rule = "volumes"       // they can be attached
	RuleSpread       Rule = "spread"        // hard topology spread is kept
	RuleAffinity     Rule = "affinity"      // required pod affinity is satisfied
	RuleAntiAffinity Rule = "anti-affinity" // required pod anti-affinity is kept
	RuleOrder        Rule = "order"         // the pods can be bound one after the other
)

// Violation is one way in which a proposal breaks an invariant. Node and Pod
// (namespace/name) are empty where it concerns none.
type Violation struct {
	Rule   Rule
	Node   string
	Pod    string
	Detail string
}

func (v Violation) Error() string {
	var b strings.Builder
	if v.Node != "" {
		b.WriteString("node " + v.Node + ": ")
	}
	if v.Pod != "" {
		b.WriteString("pod " + v.Pod + ": ")
	}
	b.WriteString(string(v.Rule) + ": " + v.Detail)
	return b.String()
}

// faults collects violations: the first ones whole, the others as a count.
type faults struct {
	list []Violation
	seen map[Violation]bool
	more int
}

// say records a violation. Details are written only as long as they are kept.
func (f *faults) say(rule Rule, node, pod, format string, args ...any) {
	if len(f.list) == MostViolations {
		f.more++
		return
	}
	v := Violation{rule, node, pod, fmt.Sprintf(format, args...)}
	if f.seen[v] {
		return
	}
	if f.seen == nil {
		f.seen = map[Violation]bool{}
	}
	f.seen[v] = true
	f.list = append(f.list, v)
}

// err is nil where nothing was recorded.
func (f *faults) err() error {
	if len(f.list) == 0 {
		return nil
	}
	all := make([]error, 0, len(f.list)+1)
	for _, v := range f.list {
		all = append(all, v)
	}
	if f.more > 0 {
		all = append(all, fmt.Errorf("and %d more", f.more))
	}
	return errors.Join(all...)
}
