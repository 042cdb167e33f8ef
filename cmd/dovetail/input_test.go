package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree lays out files under a new folder and returns it. A content that begins
// with "-> " makes a symbolic link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadSources(t *testing.T) {
	dir := tree(t, map[string]string{
		"b.yaml":             "b",
		"a.json":             "a",
		"notes.txt":          "not a manifest",
		"sub/c.yml":          "c",
		"sub/.hidden/d.yaml": "hidden",
		"sub/loop":           "-> ..",
		"gone.yaml":          "-> nowhere",
		"same.yaml":          "-> b.yaml",
		"other.manifest":     "named by hand",
	})
	cases := []struct {
		name  string
		paths []string
		want  []string // contents in order
	}{
		{"a folder in the order of names, through links, once each", []string{dir}, []string{"a", "b", "c"}},
		{"a file of any name", []string{filepath.Join(dir, "other.manifest")}, []string{"named by hand"}},
		{"files in the order given, once each", []string{filepath.Join(dir, "b.yaml"), filepath.Join(dir, "a.json"), filepath.Join(dir, "same.yaml")}, []string{"b", "a"}},
		{"standard input among files", []string{filepath.Join(dir, "b.yaml"), "-"}, []string{"b", "from stdin"}},
		{"a folder that a link leads out of, and a file of it again", []string{filepath.Join(dir, "sub"), filepath.Join(dir, "sub", "c.yml")}, []string{"c", "a", "b"}},
		{"a folder twice", []string{dir, dir}, []string{"a", "b", "c"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			sources, err := readSources(c.paths, strings.NewReader("from stdin"))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range sources {
				got = append(got, string(s.Data))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestReadSourcesRefuses(t *testing.T) {
	dir := tree(t, map[string]string{"a.yaml": "0123456789", "b.yaml": "b", "c.yaml": "c", "empty/readme": ""})
	cases := []struct {
		name  string
		paths []string
		stdin io.Reader
		code  int
		want  string
	}{
		{"a path that is not there", []string{filepath.Join(dir, "x.yaml")}, nil, exitBadInput, "x.yaml does not exist"},
		{"a large file", []string{filepath.Join(dir, "a.yaml")}, nil, exitBadInput, "a.yaml is larger than"},
		{"a large standard input", []string{"-"}, strings.NewReader("0123456789"), exitBadInput, "stdin is larger than"},
		{"many files", []string{filepath.Join(dir, "b.yaml"), filepath.Join(dir, "c.yaml"), "-"}, strings.NewReader(""), exitBadInput, "more than 2 files"},
		{"a folder without manifests", []string{filepath.Join(dir, "empty")}, nil, exitBadInput, "holds no .yaml, .yml or .json file"},
		{"standard input twice", []string{"-", "-"}, strings.NewReader("x"), exitBadInput, "given twice"},
		{"nothing", []string{""}, nil, exitBadInput, "-f needs a file"},
		{"a stream that breaks", []string{"-"}, broken{}, exitFailure, "read stdin: it broke"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := &reader{stdin: c.stdin, maxBytes: 9, maxFiles: 2, visited: map[string]bool{}}
			var err error
			for _, p := range c.paths {
				if err = r.path(p); err != nil {
					break
				}
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want it to contain %q", err, c.want)
			}
			code := exitFailure
			var exit *exitError
			if errors.As(err, &exit) {
				code = exit.code
			}
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
		})
	}
}

// broken is a stream that fails.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("it broke") }
