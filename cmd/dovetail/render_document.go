package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// documentWriter writes a document of a few fields one element at a time, so
// that a plan of thousands of nodes is never held twice. The first error sticks
// and is returned by close.
type documentWriter interface {
	// value writes a field.
	value(name string, v any)
	// list writes a field that is a list of n elements.
	list(name string, n int, element func(i int) any)
	close() error
}

// writePlan writes a plan as a document.
func writePlan(w documentWriter, r *result) error {
	p := &r.report
	w.value("apiVersion", apiVersion)
	w.value("kind", "Plan")
	w.list("newNodes", len(p.NewNodes), func(i int) any { return newNodeDocument(&p.NewNodes[i]) })
	w.list("existingNodes", len(p.ExistingNodes), func(i int) any { return existingNodeDocument(&p.ExistingNodes[i]) })
	w.list("unschedulable", len(p.Unschedulable), func(i int) any { return leftOutDocument(&p.Unschedulable[i]) })
	w.value("warnings", list(p.Warnings))
	w.value("notes", list(r.notes))
	w.value("summary", summaryDocument(r))
	return w.close()
}

// newDocumentWriter makes the writer of a format, json or yaml.
func newDocumentWriter(format string, w io.Writer) documentWriter {
	buffered := bufio.NewWriterSize(w, 64<<10)
	if format == "yaml" {
		return &yamlWriter{w: buffered}
	}
	return &jsonWriter{w: buffered}
}

// jsonWriter writes JSON indented by two spaces.
type jsonWriter struct {
	w      *bufio.Writer
	fields int
	buf    bytes.Buffer
	err    error
}

func (j *jsonWriter) value(name string, v any) {
	j.begin(name)
	j.element(v, "  ")
}

func (j *jsonWriter) list(name string, n int, element func(i int) any) {
	j.begin(name)
	if n == 0 {
		j.text("[]")
		return
	}
	j.text("[")
	for i := range n {
		if i > 0 {
			j.text(",")
		}
		j.text("\n    ")
		j.element(element(i), "    ")
	}
	j.text("\n  ]")
}

func (j *jsonWriter) close() error {
	j.text("\n}\n")
	if j.err != nil {
		return j.err
	}
	return j.w.Flush()
}

// begin writes what stands before the value of a field.
func (j *jsonWriter) begin(name string) {
	if j.fields == 0 {
		j.text("{\n  ")
	} else {
		j.text(",\n  ")
	}
	j.fields++
	j.text(`"` + name + `": `)
}

// element writes a value whose lines after the first begin with prefix.
func (j *jsonWriter) element(v any, prefix string) {
	if j.err != nil {
		return
	}
	j.buf.Reset()
	enc := json.NewEncoder(&j.buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	if j.err = enc.Encode(v); j.err == nil {
		_, j.err = j.w.Write(bytes.TrimRight(j.buf.Bytes(), "\n"))
	}
}

func (j *jsonWriter) text(s string) {
	if j.err == nil {
		_, j.err = j.w.WriteString(s)
	}
}

// yamlWriter writes the same document as YAML.
type yamlWriter struct {
	w   *bufio.Writer
	buf bytes.Buffer
	err error
}

func (y *yamlWriter) value(name string, v any) { y.element(map[string]any{name: v}) }

func (y *yamlWriter) list(name string, n int, element func(i int) any) {
	if n == 0 {
		y.element(map[string]any{name: []any{}})
		return
	}
	if y.err == nil {
		_, y.err = y.w.WriteString(name + ":\n")
	}
	for i := range n {
		y.element([]any{element(i)}) // a list may stand at the indentation of its key
	}
}

func (y *yamlWriter) close() error {
	if y.err != nil {
		return y.err
	}
	return y.w.Flush()
}

func (y *yamlWriter) element(v any) {
	if y.err != nil {
		return
	}
	y.buf.Reset()
	enc := json.NewEncoder(&y.buf)
	enc.SetEscapeHTML(false)
	if y.err = enc.Encode(v); y.err == nil {
		y.err = appendYAML(y.w, y.buf.Bytes(), 0)
	}
}
