package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dovetail-sh/dovetail/internal/api"
	"github.com/dovetail-sh/dovetail/internal/plan"
	"github.com/dovetail-sh/dovetail/internal/planner"
)

// planOptions are the flags of `dovetail plan`.
type planOptions struct {
	files    []string
	catalog  string
	region   string
	output   string
	explain  string
	now      string
	spread   []string
	failLeft bool
	planner  planner.Options
	profiles profiles
}

func newPlan(s streams) *cobra.Command {
	var o planOptions
	cmd := &cobra.Command{
		Use:   "plan -f FILE…",
		Short: "Plan nodes for the pods that wait",
		Long: `Plan reads manifests and says which instances to launch for the pods that wait for a
node, what they cost an hour, which standing nodes take pods, and why a pod that is
left out is left out. It changes nothing.

It plans for pods that the scheduler has called unschedulable, and for the pods of
workloads (Deployments, Jobs, …) whose pods are not in the input. Without a NodePool
in the input it assumes one, and says which.

Exit codes: 0 planned, 1 a failure of dovetail or the machine, 2 the input is wrong,
3 pods are left out and --fail-on-unschedulable was given.`,
		Example: `  # The cluster at hand
  kubectl get pods,nodes,daemonsets,pvc,pv,storageclasses -A -o yaml | dovetail plan -f - -f nodepools.yaml

  # A folder of manifests, and the reason for one pod
  dovetail plan -f manifests/
  dovetail plan -f manifests/ --explain shop/checkout-6f7c9d8b5-x2x7q

  # For another program
  dovetail plan -f manifests/ -o json | jq .summary

  # What would it cost without spot?
  dovetail plan -f manifests/ --no-spot`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return o.run(s) },
	}
	f := cmd.Flags()
	f.StringArrayVarP(&o.files, "filename", "f", nil, filesUsage)
	f.StringVar(&o.catalog, "catalog", "", "JSON `file` with the instance types to choose from, instead of those of AWS")
	f.StringVar(&o.region, "region", defaultRegion, "AWS region whose types, zones and prices to plan with")
	f.StringVarP(&o.output, "output", "o", "table", "table, wide (every node, every pod), json or yaml")
	f.StringVar(&o.explain, "explain", "", "tell of one `pod` (namespace/name, or its name) where it goes and why, or every reason why nowhere")
	f.BoolVar(&o.planner.NoSpot, "no-spot", false, "plan as if nothing were offered on spot")
	f.StringVar(&o.now, "now", "", "plan as of this `time` (RFC 3339); default: the clock")
	f.BoolVar(&o.failLeft, "fail-on-unschedulable", false, "exit with 3 when a pod is left out")
	f.BoolVar(&o.planner.IgnorePreferences, "ignore-preferences", false, "plan as if pods had no preferences, only requirements")
	f.BoolVar(&o.planner.MinValuesBestEffort, "min-values-best-effort", false, "treat minValues of NodePools as a wish")
	f.StringArrayVar(&o.spread, "default-spread", nil, "spread pods that declare no spread of their own, as `KEY[:SKEW[:hard]]` (topology.kubernetes.io/zone:1); may be repeated")
	f.StringVar(&o.profiles.cpu, "cpuprofile", "", "write a CPU profile of the planning to this file")
	f.StringVar(&o.profiles.mem, "memprofile", "", "write an allocation profile to this file")
	hide(cmd, "cpuprofile", "memprofile")
	return cmd
}

const defaultRegion = "us-east-1"

func hide(cmd *cobra.Command, names ...string) {
	for _, name := range names {
		cmd.Flags().Lookup(name).Hidden = true
	}
}

// run carries the command out.
func (o *planOptions) run(s streams) error {
	if err := o.check(); err != nil {
		return err
	}
	now, err := o.time()
	if err != nil {
		return err
	}
	in, err := o.load(s)
	if err != nil {
		return err
	}
	res, err := o.solve(s, in, now)
	if err != nil {
		return err
	}
	if err := o.print(s, in, res); err != nil {
		return err
	}
	if o.failLeft && len(res.report.Unschedulable) > 0 {
		return &exitError{exitLeftOut, fmt.Sprintf("%s left out", count(len(res.report.Unschedulable), "pod"))}
	}
	return nil
}

// check looks at the flags before anything is read.
func (o *planOptions) check() error {
	if len(o.files) == 0 {
		return badInput("nothing to plan: give manifests with -f FILE, -f FOLDER, or -f - for standard input, for example\n  kubectl get pods,nodes,nodepools -A -o yaml | dovetail plan -f -")
	}
	if err := oneOf("-o", o.output, "table", "wide", "json", "yaml"); err != nil {
		return err
	}
	for _, text := range o.spread {
		spread, err := parseSpread(text)
		if err != nil {
			return err
		}
		o.planner.DefaultSpread = append(o.planner.DefaultSpread, spread)
	}
	return nil
}

// oneOf refuses a flag's value that is none of those allowed.
func oneOf(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return badInput("%s %s: not an output; write one of %s", flag, value, strings.Join(allowed, ", "))
}

// time is the moment to plan as of.
func (o *planOptions) time() (time.Time, error) {
	if o.now == "" {
		return time.Now().UTC(), nil
	}
	t, err := time.Parse(time.RFC3339, o.now)
	if err != nil {
		return time.Time{}, badInput("--now %s: not a time; write it as 2026-01-31T12:00:00Z", o.now)
	}
	return t.UTC(), nil
}

// parseSpread reads a value of --default-spread.
func parseSpread(text string) (planner.DefaultSpread, error) {
	parts := strings.Split(text, ":")
	out := planner.DefaultSpread{TopologyKey: parts[0], MaxSkew: 1}
	wrong := func(what string) (planner.DefaultSpread, error) {
		return planner.DefaultSpread{}, badInput("--default-spread %s: %s; write KEY, KEY:SKEW or KEY:SKEW:hard, such as topology.kubernetes.io/zone:1", text, what)
	}
	if parts[0] == "" {
		return wrong("the topology key is missing")
	}
	if len(parts) > 1 {
		n, err := strconv.ParseInt(parts[1], 10, 32)
		if err != nil || n < 1 {
			return wrong("the skew is not a number from 1 up")
		}
		out.MaxSkew = int32(n)
	}
	if len(parts) > 2 {
		if parts[2] != "hard" || len(parts) > 3 {
			return wrong("only hard may follow the skew")
		}
		out.Hard = true
	}
	return out, nil
}

// load reads the manifests and the catalogue, and fills in what is assumed.
func (o *planOptions) load(s streams) (*input, error) {
	p := newProgress(s.err)
	defer p.step("reading manifests")()
	sources, err := readSources(o.files, s.in)
	if err != nil {
		return nil, err
	}
	loaded := api.Load(sources, api.Options{})
	if len(loaded.Errors) > 0 {
		return nil, refused(s, loaded)
	}
	return prepare(loaded, o.catalog, o.region)
}

// refused prints what is wrong with manifests, and returns the error to exit
// with.
func refused(s streams, loaded *api.Result) error {
	for _, e := range loaded.Errors {
		fmt.Fprintln(s.err, e.Error())
	}
	n := len(loaded.Errors) + loaded.MoreErrors
	shown := ""
	if loaded.MoreErrors > 0 {
		shown = fmt.Sprintf(" (the first %s are shown)", thousands(len(loaded.Errors)))
	}
	return badInput("%s in the input%s; nothing was planned", count(n, "error"), shown)
}

// solve makes the plan and measures it.
func (o *planOptions) solve(s streams, in *input, now time.Time) (*result, error) {
	stop, err := o.profiles.start()
	if err != nil {
		return nil, err
	}
	done := newProgress(s.err).step(fmt.Sprintf("planning %s", count(len(in.snapshot.Pods), "pod")))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	proposal, err := planner.Make(planner.Input{Snapshot: in.snapshot, Catalog: in.catalog, Now: now, Trigger: "plan", Options: o.planner})
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	done()
	if stopErr := stop(); err == nil {
		err = stopErr
	}
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	res := &result{report: proposal.Report, notes: in.notes, currency: in.catalog.Currency(), allocated: after.TotalAlloc - before.TotalAlloc}
	res.report.Summary.SolveSeconds = took.Seconds()
	res.report.Warnings = slices.Concat(in.warnings, res.report.Warnings, o.recheck(in, &proposal))
	return res, nil
}

// recheck holds the plan against the rules once more, by code that shares nothing
// with the packer. What it finds is a fault of ours: the plan is shown all the
// same, since nothing is launched from here, and says that it would be refused.
func (o *planOptions) recheck(in *input, p *plan.Proposal) []string {
	err := plan.Check(plan.CheckInput{Snapshot: in.snapshot, Proposal: p, Types: in.catalog.InstanceTypes,
		NoSpot: o.planner.NoSpot, MinValuesBestEffort: o.planner.MinValuesBestEffort})
	if err == nil {
		return nil
	}
	return []string{"this plan breaks rules and would be refused, which is a fault of dovetail's: please report it with the input. " + err.Error()}
}

// print writes the plan, or the explanation of one pod, to standard output.
func (o *planOptions) print(s streams, in *input, res *result) error {
	l := look{wide: o.output == "wide", colour: wantsColour(s.out), width: terminalWidth(s.out), currency: res.currency}
	if o.explain != "" {
		e, err := explain(in.snapshot.Pods, &res.report, o.explain)
		if err != nil {
			return err
		}
		if o.machine() {
			return e.document(newDocumentWriter(o.output, s.out))
		}
		return e.write(s.out, l)
	}
	if o.machine() {
		return writePlan(newDocumentWriter(o.output, s.out), res)
	}
	return renderTable(s.out, res, l)
}

// machine tells whether the output is for a program.
func (o *planOptions) machine() bool { return o.output == "json" || o.output == "yaml" }

// wantsColour tells whether a stream is a terminal whose owner has not asked
// for plain text (no-color.org).
func wantsColour(stream any) bool {
	return isTerminal(stream) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
