package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/api"
)

// Limits of what is read, so that a wrong path ends with a message and not with
// the machine's memory.
const (
	maxFileBytes = 512 << 20
	maxFiles     = 10_000
)

// filesUsage describes the flag -f.
const filesUsage = "manifests: a `file`, a folder (with its folders), or - for standard input; may be repeated"

// reader reads the files that -f names.
type reader struct {
	stdin    io.Reader
	maxBytes int64
	maxFiles int

	sources []api.Source
	found   int             // manifests met, those that had been read before included
	visited map[string]bool // real paths: a loop of links, or a file named twice, is read once
}

// readSources reads files, folders and standard input in the order given; a
// folder's files in the order of their names.
func readSources(paths []string, stdin io.Reader) ([]api.Source, error) {
	r := &reader{stdin: stdin, maxBytes: maxFileBytes, maxFiles: maxFiles, visited: map[string]bool{}}
	for _, path := range paths {
		if err := r.path(path); err != nil {
			return nil, err
		}
	}
	return r.sources, nil
}

// path reads one argument of -f.
func (r *reader) path(path string) error {
	if path == "" {
		return badInput("-f needs a file, a folder, or - for standard input")
	}
	if path == "-" {
		if r.visited["-"] {
			return badInput("-f - is given twice, and standard input can be read once")
		}
		r.visited["-"] = true
		return r.read("stdin", r.stdin, 0)
	}
	info, err := os.Stat(path)
	if err != nil {
		return pathError(err)
	}
	if !info.IsDir() {
		return r.file(path, info)
	}
	before := r.found
	if err := r.folder(path); err != nil {
		return err
	}
	if r.found == before {
		return badInput("%s holds no .yaml, .yml or .json file", path)
	}
	return nil
}

// folder reads the manifests of a folder and of those in it. What a link points
// to is read once, however it is reached; names that begin with a dot are not
// looked at.
func (r *reader) folder(path string) error {
	if seen, err := r.visit(path); seen || err != nil {
		return err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return pathError(err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		child := filepath.Join(path, e.Name())
		info, err := os.Stat(child)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // a link to nowhere: an editor's lock, most often
		case err != nil:
			return pathError(err)
		case info.IsDir():
			err = r.folder(child)
		case info.Mode().IsRegular() && isManifest(child):
			err = r.file(child, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func isManifest(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

// visit tells whether a path has been read before under any name.
func (r *reader) visit(path string) (seen bool, err error) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false, pathError(err)
	}
	if target, err = filepath.Abs(target); err != nil {
		return false, pathError(err)
	}
	seen = r.visited[target]
	r.visited[target] = true
	if seen {
		r.found++
	}
	return seen, nil
}

// file reads one file. It may be a pipe, as a shell's <(…) is.
func (r *reader) file(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		if seen, err := r.visit(path); seen || err != nil {
			return err
		}
	}
	if info.Size() > r.maxBytes {
		return r.tooLarge(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return pathError(err)
	}
	defer f.Close()
	return r.read(path, f, info.Size())
}

// read takes in one source. The size is what it is expected to hold; 0 when
// nobody knows.
func (r *reader) read(name string, from io.Reader, size int64) error {
	if len(r.sources) == r.maxFiles {
		return badInput("more than %d files: give a folder with manifests only", r.maxFiles)
	}
	var buf bytes.Buffer
	buf.Grow(int(size) + bytes.MinRead)
	n, err := buf.ReadFrom(io.LimitReader(from, r.maxBytes+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if n > r.maxBytes {
		return r.tooLarge(name)
	}
	r.found++
	r.sources = append(r.sources, api.Source{Name: name, Data: buf.Bytes()})
	return nil
}

func (r *reader) tooLarge(name string) error {
	return badInput("%s is larger than %d MiB, the most that one file may hold: split it, or leave out what is not planned with", name, r.maxBytes>>20)
}

// pathError makes an error of a path the caller's where it is: a path that does
// not exist was mistyped. The rest is the machine's.
func pathError(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			return badInput("%s does not exist: check the path given to the command", pe.Path)
		}
		return badInput("%v", err)
	}
	return err
}
