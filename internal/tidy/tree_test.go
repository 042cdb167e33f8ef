package tidy

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// root finds the folder of the module.
func root(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if filepath.Dir(dir) == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// packages lists the packages of the module as the go command sees them.
func packages(t *testing.T) []Package {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=Dir,ImportPath,Name,GoFiles,Imports", "./...")
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []Package
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p Package
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return pkgs
		}
		if err != nil {
			t.Fatalf("go list printed something else than JSON: %v", err)
		}
		pkgs = append(pkgs, p)
	}
}

func report(t *testing.T, vs []Violation) {
	t.Helper()
	for _, v := range vs {
		t.Error(v)
	}
}

func TestLayers(t *testing.T) {
	pkgs := packages(t)
	if len(pkgs) < 5 {
		t.Fatalf("only %d packages found", len(pkgs))
	}
	report(t, CheckLayers(pkgs))
}

func TestNoIO(t *testing.T) {
	pkgs := packages(t)
	report(t, CheckImports(pkgs))
	for _, p := range pkgs {
		if !Pure(p) {
			continue
		}
		for _, name := range p.GoFiles {
			src, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			short := strings.TrimPrefix(p.ImportPath, Module+"/") + "/" + name
			report(t, CheckPureSource(short, src))
		}
	}
}

// TestTree reads every file of the tree that is not ignored.
func TestTree(t *testing.T) {
	dir := root(t)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if ignored[d.Name()] {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		report(t, CheckText(filepath.ToSlash(name), data))
		switch {
		case strings.HasSuffix(name, "_test.go"):
			report(t, CheckTestSource(name, data))
		case strings.HasSuffix(name, ".go"):
			report(t, CheckLength(name, data))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ignored are the folders that .gitignore names, and git's own.
var ignored = map[string]bool{".git": true, "bin": true, "cdk.out": true, "node_modules": true}
