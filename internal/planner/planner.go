// Package planner is the one way in to a decision: Make is a pure function from
// a snapshot to a proposal. The same input gives the same bytes; the time and a
// seed are values in Input.
package planner

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
	"github.com/dovetail-sh/dovetail/internal/provisioning"
)

// Catalog gives the instance types that a node class can launch. A catalogue
// is immutable: two calls with the same class give the same list.
type Catalog interface {
	InstanceTypes(class *cluster.NodeClass) []cluster.InstanceType
}

// Input is everything a decision depends on.
type Input struct {
	Snapshot *cluster.Snapshot
	Catalog  Catalog
	Now      time.Time
	Seed     uint64 // for deciders that choose at random; none does so far
	Trigger  string
	Options  Options
}

// Options are the installation's settings. The zero value is the default.
type Options struct {
	IgnorePreferences   bool // preference-policy Ignore
	MinValuesBestEffort bool // min-values-policy BestEffort
	// DefaultSpread is given to pods that declare no spread of their own.
	DefaultSpread []DefaultSpread
	NoSpot        bool // plan as if nothing were offered on spot
}

// DefaultSpread is a spread over the values of a node label that counts the
// pods of the same owner.
type DefaultSpread struct {
	TopologyKey string
	MaxSkew     int32
	Hard        bool // DoNotSchedule; else ScheduleAnyway
}

// Make plans the pods of a snapshot that wait for a node.
func Make(in Input) (plan.Proposal, error) {
	return provisioning.Decide(provisioning.Input{
		Snapshot: in.Snapshot, Types: in.Catalog.InstanceTypes, Now: in.Now, Trigger: in.Trigger,
		Options: provisioning.Options{
			IgnorePreferences: in.Options.IgnorePreferences, MinValuesBestEffort: in.Options.MinValuesBestEffort,
			NoSpot: in.Options.NoSpot, DefaultSpread: defaultSpread(in.Options.DefaultSpread),
		},
	})
}

func defaultSpread(ds []DefaultSpread) []corev1.TopologySpreadConstraint {
	var out []corev1.TopologySpreadConstraint
	for _, d := range ds {
		c := corev1.TopologySpreadConstraint{TopologyKey: d.TopologyKey, MaxSkew: max(1, d.MaxSkew), WhenUnsatisfiable: corev1.ScheduleAnyway}
		if d.Hard {
			c.WhenUnsatisfiable = corev1.DoNotSchedule
		}
		out = append(out, c)
	}
	return out
}
