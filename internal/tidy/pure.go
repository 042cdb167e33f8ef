package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"strconv"
	"strings"
)

// ban is an import that packages without I/O may not have. A path that ends in
// a slash bans everything below it.
type ban struct{ path, why string }

var bans = []ban{
	{"context", "a decision is a pure function: there is nothing to cancel and nothing to wait for"},
	{"os", "a decision reads no file, no environment and no process: the caller reads, and hands over bytes"},
	{"os/", "a decision starts no process and hears no signal: that is the program's"},
	{"net", "a decision makes no connection: adapters do, and put what they learn into the snapshot"},
	{"net/", "a decision makes no connection: adapters do, and put what they learn into the snapshot"},
	{"log", "outcomes are data: what is worth telling goes into the report, where a test can see it"},
	{"log/", "outcomes are data: what is worth telling goes into the report, where a test can see it"},
	{"syscall", "a decision makes no system call"},
	{"golang.org/x/sys/", "a decision makes no system call"},
	{"io/ioutil", "a decision reads no file: the caller reads, and hands over bytes"},
	{"math/rand", "its global source differs from run to run; seed a math/rand/v2 source with Input.Seed"},
	{"database/", "state is the engine's, behind a port"},
	{"github.com/aws/", "AWS is spoken by adapters only; a decision sees the snapshot"},
	{"k8s.io/client-go/", "the Kubernetes API is spoken by adapters only; a decision sees the snapshot"},
	{"sigs.k8s.io/controller-runtime", "there is no controller in here: an event makes a snapshot, a snapshot makes a proposal"},
	{"sigs.k8s.io/controller-runtime/", "there is no controller in here: an event makes a snapshot, a snapshot makes a proposal"},
}

// calls are functions that packages without I/O may not use, by import path.
var calls = map[string]map[string]string{
	"time": {
		"Now":       "the time is a value: Input.Now",
		"Since":     "the time is a value: subtract from Input.Now",
		"Until":     "the time is a value: subtract Input.Now",
		"Sleep":     "nothing sleeps: return a Wake",
		"After":     "nothing waits: return a Wake",
		"AfterFunc": "nothing waits: return a Wake",
		"Tick":      "nothing waits: return a Wake",
		"NewTimer":  "nothing waits: return a Wake",
		"NewTicker": "nothing waits: return a Wake",
	},
}

// seeded are the names of math/rand/v2 that do not touch its global source.
var seeded = map[string]bool{"New": true, "NewPCG": true, "NewChaCha8": true, "NewZipf": true,
	"Rand": true, "Source": true, "PCG": true, "ChaCha8": true, "Zipf": true}

// Pure tells whether the package is one of those that do no I/O.
func Pure(p Package) bool {
	pl, ok := find(p)
	return ok && pl.layer.pure()
}

// CheckImports applies the bans to the direct imports of the packages that do
// no I/O. Direct ones are enough for our own packages, since each is checked;
// Kubernetes' value types bring what they bring.
func CheckImports(pkgs []Package) []Violation {
	var out []Violation
	for _, p := range pkgs {
		if !Pure(p) {
			continue
		}
		for _, imp := range p.Imports {
			for _, b := range bans {
				if imp == b.path || strings.HasSuffix(b.path, "/") && strings.HasPrefix(imp, b.path) {
					out = append(out, Violation{p.ImportPath, "imports " + imp, b.why})
					break
				}
			}
		}
	}
	return sorted(out)
}

// CheckPureSource looks through one production file of a package that does no
// I/O for what its imports do not show: reading the clock, the global source
// of random numbers, and goroutines.
func CheckPureSource(name string, src []byte) []Violation {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return []Violation{{name, "does not parse", err.Error()}}
	}
	imports := importNames(file)
	var out []Violation
	add := func(pos token.Pos, what, why string) {
		out = append(out, Violation{fmt.Sprintf("%s:%d", name, fset.Position(pos).Line), what, why})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			add(n.Pos(), "a go statement", "the order of goroutines differs from run to run, and a Lambda's core is one: the same input gives the same bytes")
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok {
				if why := bannedUse(imports[pkg.Name], n.Sel.Name); why != "" {
					add(n.Pos(), pkg.Name+"."+n.Sel.Name, why)
				}
			}
		}
		return true
	})
	return sorted(out)
}

// bannedUse says why a name of an import may not be used, "" when it may.
func bannedUse(importPath, name string) string {
	if importPath == "math/rand/v2" && !seeded[name] {
		return "the global source differs from run to run; seed one with Input.Seed"
	}
	return calls[importPath][name]
}

// CheckTestSource looks through one test file for what makes tests lie: one
// that sleeps depends on the machine, one that skips is never seen to fail.
func CheckTestSource(name string, src []byte) []Violation {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return []Violation{{name, "does not parse", err.Error()}}
	}
	imports := importNames(file)
	var out []Violation
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		where := fmt.Sprintf("%s:%d", name, fset.Position(call.Pos()).Line)
		switch {
		case imports[x.Name] == "time" && sel.Sel.Name == "Sleep":
			out = append(out, Violation{where, "a test that sleeps", "it passes or fails by the machine's load; pass the clock in"})
		case skips[sel.Sel.Name] && imports[x.Name] == "":
			out = append(out, Violation{where, "a test that skips", "nobody sees it fail; do not register the case where it cannot run"})
		}
		return true
	})
	return sorted(out)
}

var skips = map[string]bool{"Skip": true, "Skipf": true, "SkipNow": true}

// importNames maps the names that a file gives its imports to their paths.
func importNames(file *ast.File) map[string]string {
	out := make(map[string]string, len(file.Imports))
	for _, imp := range file.Imports {
		p, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if name == "v2" {
			name = path.Base(path.Dir(p))
		}
		if imp.Name != nil {
			name = imp.Name.Name
		}
		out[name] = p
	}
	return out
}
