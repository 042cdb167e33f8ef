package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/api"
	"github.com/dovetail-sh/dovetail/internal/catalog"
	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// assumedPool is the NodePool that is planned with where the input has none.
//
//go:embed assumed_nodepool.yaml
var assumedPool []byte

const assumedPoolText = "the input has no NodePool: planned with one that allows c, m and r types of generation 3 and later, amd64 and arm64, spot and on-demand, linux"

// input is what a plan is made of.
type input struct {
	snapshot *cluster.Snapshot
	catalog  *catalog.Catalog
	warnings []string
	notes    []string // what was assumed
}

// prepare makes the input of a plan of what the manifests say, filling in what
// they do not.
func prepare(loaded *api.Result, catalogFile, region string) (*input, error) {
	in := &input{snapshot: &loaded.Snapshot, warnings: loaded.Warnings}
	if len(in.snapshot.Pods) == 0 {
		return nil, noPods(loaded)
	}
	in.snapshot.Region = region
	var err error
	if in.catalog, err = loadCatalog(loaded, catalogFile, region); err != nil {
		return nil, err
	}
	in.warnings = slices.Concat(in.warnings, in.catalog.Warnings())
	if err := in.assumePool(); err != nil {
		return nil, err
	}
	in.assumeClasses()
	in.fillNodes()
	if text := ignoredText(loaded.Ignored); text != "" {
		in.notes = append(in.notes, text)
	}
	return in, nil
}

// noPods says what to give to somebody whose input has no pods.
func noPods(loaded *api.Result) error {
	what := "the input is empty"
	if n := len(loaded.Objects); n > 0 {
		what = fmt.Sprintf("the input has %s and no pod among them", count(n, "object"))
	} else if text := ignoredText(loaded.Ignored); text != "" {
		what = "the input has nothing to plan with: " + text
	}
	return badInput("%s: give Pods, or workloads such as Deployments and Jobs, for example\n  kubectl get pods,nodes,nodepools -A -o yaml | dovetail plan -f -", what)
}

// loadCatalog takes the catalogue of the flag, else that of the input, else
// AWS's.
func loadCatalog(loaded *api.Result, file, region string) (*catalog.Catalog, error) {
	switch {
	case file != "":
		return catalogFile(file)
	case loaded.InstanceTypes != nil:
		c, err := catalog.Parse(loaded.InstanceTypes)
		if err != nil {
			return nil, badCatalog("instanceTypes of the input", err)
		}
		return c, nil
	}
	c, err := catalog.Embedded(region)
	if err != nil {
		return nil, badInput("--region: %v", err)
	}
	return c, nil
}

func catalogFile(path string) (*catalog.Catalog, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, badInput("--catalog %s does not exist", path)
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, badInput("--catalog %s is a folder: give one JSON file", path)
	case info.Size() > catalog.MaxBytes:
		return nil, badInput("--catalog %s is larger than %d MiB", path, catalog.MaxBytes>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := catalog.Parse(data)
	if err != nil {
		return nil, badCatalog("--catalog "+path, err)
	}
	return c, nil
}

// badCatalog is the error of a catalogue that was refused; it may have many
// lines.
func badCatalog(what string, err error) error {
	return badInput("%s:\n  %s", what, strings.ReplaceAll(err.Error(), "\n", "\n  "))
}

// assumePool gives an input without NodePools one.
func (in *input) assumePool() error {
	if len(in.snapshot.NodePools) > 0 {
		return nil
	}
	loaded := api.Load([]api.Source{{Name: "the assumed NodePool", Data: assumedPool}}, api.Options{})
	if len(loaded.Errors) > 0 {
		return fmt.Errorf("the assumed NodePool: %w", loaded.Errors[0])
	}
	in.snapshot.NodePools = loaded.Snapshot.NodePools
	in.notes = append(in.notes, assumedPoolText)
	return nil
}

// assumeClasses gives the NodePools whose node class is not in the input one
// with the defaults of AL2023.
func (in *input) assumeClasses() {
	have := make(map[string]bool)
	for i := range in.snapshot.NodeClasses {
		have[in.snapshot.NodeClasses[i].Name] = true
	}
	var missing []string
	for i := range in.snapshot.NodePools {
		name := in.snapshot.NodePools[i].NodeClass.Name
		if !have[name] {
			have[name] = true
			missing = append(missing, name)
			in.snapshot.NodeClasses = append(in.snapshot.NodeClasses, cluster.NodeClass{Name: name, AMIFamily: "AL2023"})
		}
	}
	if len(missing) == 0 {
		return
	}
	slices.Sort(missing)
	what := "EC2NodeClass " + missing[0] + " is"
	if len(missing) > 1 {
		what = "EC2NodeClasses " + strings.Join(missing, ", ") + " are"
	}
	in.notes = append(in.notes, what+" not in the input: planned with AL2023, its default disks and kubelet settings, and subnets in every zone")
}

// fillNodes gives the nodes that state no resources those of their instance
// type, and its labels.
func (in *input) fillNodes() {
	var unknown []string
	for i := range in.snapshot.Nodes {
		n := &in.snapshot.Nodes[i]
		if len(n.Allocatable) > 0 {
			continue
		}
		t := in.typeOf(n)
		if t == nil {
			unknown = append(unknown, n.Name)
			continue
		}
		n.Capacity, n.Allocatable = t.Capacity, t.Allocatable
		labels := maps.Clone(t.Labels)
		maps.Copy(labels, n.Labels)
		n.Labels = labels
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		in.warnings = append(in.warnings, fmt.Sprintf(
			"%s no allocatable resources and no instance type that the catalogue knows (label %s), so no pod can be put there: %s",
			plural(len(unknown), "a node has", "nodes have"), cluster.LabelInstanceType, shortened(unknown)))
	}
}

// typeOf finds the instance type of a node by its label, as nodes of its class
// are; nil where it is not known.
func (in *input) typeOf(n *cluster.Node) *cluster.InstanceType {
	name := n.Labels[cluster.LabelInstanceType]
	if name == "" {
		return nil
	}
	types := in.catalog.InstanceTypes(in.classOf(n))
	at, ok := slices.BinarySearchFunc(types, name, func(t cluster.InstanceType, name string) int { return strings.Compare(t.Name, name) })
	if !ok {
		return nil
	}
	return &types[at]
}

// classOf is the node class of a node's NodePool, nil where it is not known.
func (in *input) classOf(n *cluster.Node) *cluster.NodeClass {
	class := ""
	for i := range in.snapshot.NodePools {
		if p := &in.snapshot.NodePools[i]; p.Name == n.NodePoolName() {
			class = p.NodeClass.Name
		}
	}
	for i := range in.snapshot.NodeClasses {
		if in.snapshot.NodeClasses[i].Name == class {
			return &in.snapshot.NodeClasses[i]
		}
	}
	return nil
}

// ignoredText says which kinds of the input play no part.
func ignoredText(ignored map[string]int) string {
	if len(ignored) == 0 {
		return ""
	}
	parts := make([]string, 0, len(ignored))
	for _, kind := range slices.Sorted(maps.Keys(ignored)) {
		parts = append(parts, fmt.Sprintf("%s %s", thousands(ignored[kind]), kind))
	}
	return "objects of kinds that play no part were passed over: " + strings.Join(parts, ", ")
}
