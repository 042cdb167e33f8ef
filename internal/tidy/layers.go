package tidy

import (
	"fmt"
	"strings"
)

// Package is what the rules need to know of a Go package: the fields of the
// same names that `go list -json` prints.
type Package struct {
	Dir        string
	ImportPath string
	Name       string
	GoFiles    []string
	Imports    []string // of production files, not of tests
}

// Module is the path that the packages of this repository begin with.
const Module = "github.com/dovetail-sh/dovetail"

// layer is a height in the dependency rule. A package imports packages of a
// lower layer only.
type layer int

const (
	nouns layer = iota
	inputs
	core
	deciders
	entry
	engine
	adapters
	programs
	outside // tests' support, examples, infra: above everything, imported by nothing below
)

// place says where a folder, with all that it contains, stands.
type place struct {
	folder string
	layer  layer
	why    string // what breaks when the rule about it is broken
}

// places is the dependency rule, lowest first.
var places = []place{
	{"internal/cluster", nouns, "the nouns import nothing of ours: every other package speaks in them, so whatever they import, all import"},
	{"internal/api", inputs, "manifests become nouns and know no catalogue and no planner, so that `validate` needs neither"},
	{"internal/catalog", inputs, "instance types become nouns and know no manifests, so that the live catalogue can be written without a cluster"},
	{"internal/scheduling", core, "the hot path knows nouns and inputs; who asks and what is done with the answer is above it"},
	{"internal/plan", core, "a proposal is data that every layer above must be able to check, so it depends on nothing that decides"},
	{"internal/provisioning", deciders, "deciders do not know each other: each is valid alone"},
	{"internal/disruption", deciders, "deciders do not know each other: each is valid alone"},
	{"internal/lifecycle", deciders, "deciders do not know each other: each is valid alone"},
	{"internal/planner", entry, "the planner is the one way in to a decision, and knows no engine, no adapter and no program"},
	{"internal/engine", engine, "the engine states its ports and never names who implements them"},
	{"internal/dynamo", adapters, "adapters never import each other: each can be replaced alone"},
	{"internal/ec2", adapters, "adapters never import each other: each can be replaced alone"},
	{"internal/kube", adapters, "adapters never import each other: each can be replaced alone"},
	{"internal/queue", adapters, "adapters never import each other: each can be replaced alone"},
	{"internal/inmem", adapters, "adapters never import each other: each can be replaced alone"},
	{"internal/conformance", adapters, "a suite that every adapter runs names none of them"},
	{"internal/sim", adapters, "the simulator drives the engine through its ports, as an adapter does"},
	{"functions", programs, "a function is wiring: nothing imports it"},
	{"cmd", programs, "a command is wiring: nothing imports it"},
	{"events", nouns, "wire formats are imported by adapters, programs and infra only"},
	{"internal/tidy", outside, "the rules are about the others: nothing imports them"},
	{"test", outside, "support of tests is imported by tests only"},
	{"examples", outside, "examples are run, not imported"},
	{"infra", outside, "infra describes the installation and is imported by nothing"},
}

// pure tells whether a layer is one of those that do no I/O.
func (l layer) pure() bool { return l <= entry }

// find gives the place of a folder. A package main outside of the programs'
// folders (a generator beside the table that it makes) is a program too.
func find(p Package) (place, bool) {
	folder := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, Module), "/")
	for _, pl := range places {
		if within(folder, pl.folder) {
			if p.Name == "main" {
				pl.layer = max(pl.layer, programs)
			}
			return pl, true
		}
	}
	return place{}, false
}

// within tells whether a folder is parent or lies below it.
func within(folder, parent string) bool {
	return folder == parent || strings.HasPrefix(folder, parent+"/")
}

// CheckLayers applies the dependency rule to the packages of the module.
func CheckLayers(pkgs []Package) []Violation {
	byPath := make(map[string]Package, len(pkgs))
	for _, p := range pkgs {
		byPath[p.ImportPath] = p
	}
	var out []Violation
	for _, p := range pkgs {
		from, ok := find(p)
		if !ok {
			out = append(out, Violation{p.ImportPath, "a package that the dependency rule does not know",
				"every package has a layer: give it one in internal/tidy/layers.go, with the reason"})
			continue
		}
		for _, imp := range p.Imports {
			if imp != Module && !strings.HasPrefix(imp, Module+"/") {
				continue
			}
			q, ok := byPath[imp]
			if !ok {
				q = Package{ImportPath: imp}
			}
			if v, bad := checkImport(p, from, q); bad {
				out = append(out, v)
			}
		}
	}
	return sorted(out)
}

// checkImport judges one import of a package of ours by another.
func checkImport(p Package, from place, q Package) (Violation, bool) {
	to, ok := find(q)
	if !ok {
		return Violation{}, false // reported where q itself is listed
	}
	if from.folder == to.folder && q.Name != "main" {
		return Violation{}, false
	}
	if to.folder == "events" && from.layer < adapters {
		return Violation{p.ImportPath, "imports " + q.ImportPath, to.why}, true
	}
	if to.layer < from.layer {
		return Violation{}, false
	}
	why := from.why
	if to.layer >= programs {
		why = to.why
	}
	what := fmt.Sprintf("imports %s, which does not stand below it", q.ImportPath)
	return Violation{p.ImportPath, what, why}, true
}
