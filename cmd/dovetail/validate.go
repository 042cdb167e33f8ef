package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dovetail-sh/dovetail/internal/api"
)

// validateOptions are the flags of `dovetail validate`.
type validateOptions struct {
	files  []string
	output string
}

func newValidate(s streams) *cobra.Command {
	var o validateOptions
	cmd := &cobra.Command{
		Use:   "validate -f FILE…",
		Short: "Check manifests",
		Long: `Validate checks manifests without planning: unknown fields, wrong types, bad
quantities, forbidden labels and values that contradict each other. It reports every
error at once, with the file, the object, the field and what is allowed there.

Exit codes: 0 valid, 1 a failure of dovetail or the machine, 2 invalid.`,
		Example: `  dovetail validate -f nodepools/

  # The objects with their defaults filled in
  dovetail validate -f nodepool.yaml -o json | jq '.objects[]'`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error { return o.run(s) },
	}
	f := cmd.Flags()
	f.StringArrayVarP(&o.files, "filename", "f", nil, filesUsage)
	f.StringVarP(&o.output, "output", "o", "table", "table or json")
	return cmd
}

func (o *validateOptions) run(s streams) error {
	if len(o.files) == 0 {
		return badInput("nothing to check: give manifests with -f FILE, -f FOLDER, or -f - for standard input")
	}
	if err := oneOf("-o", o.output, "table", "json"); err != nil {
		return err
	}
	done := newProgress(s.err).step("reading manifests")
	defer done()
	sources, err := readSources(o.files, s.in)
	if err != nil {
		return err
	}
	loaded := api.Load(sources, api.Options{})
	done()
	if o.output == "json" {
		err = validationDocument(s, loaded)
	} else {
		err = validationTable(s, loaded)
	}
	if err == nil && len(loaded.Errors) > 0 {
		err = &exitError{exitBadInput, ""}
	}
	return err
}

// errorJSON is an error of `dovetail validate -o json`.
type errorJSON struct {
	File     string `json:"file"`
	Document int    `json:"document,omitempty"`
	Object   string `json:"object"`
	Path     string `json:"path"`
	Message  string `json:"message"`
}

func validationDocument(s streams, loaded *api.Result) error {
	w := newDocumentWriter("json", s.out)
	w.value("valid", len(loaded.Errors) == 0)
	w.list("errors", len(loaded.Errors), func(i int) any {
		e := loaded.Errors[i]
		return errorJSON{e.File, e.Document, e.Object, e.Path, e.Message}
	})
	if loaded.MoreErrors > 0 {
		w.value("moreErrors", loaded.MoreErrors)
	}
	w.value("warnings", list(loaded.Warnings))
	w.list("objects", len(loaded.Objects), func(i int) any {
		o := &loaded.Objects[i]
		if o.Defaulted != nil {
			return o.Defaulted
		}
		return json.RawMessage(o.Raw)
	})
	return w.close()
}

// validationTable writes what was read, or what is wrong with it, for a person.
func validationTable(s streams, loaded *api.Result) error {
	p := &page{look: look{colour: wantsColour(s.out), width: terminalWidth(s.out)}}
	for _, e := range loaded.Errors {
		p.WriteString(red.paint("error", p.colour) + "    " + e.Error() + "\n")
	}
	if loaded.MoreErrors > 0 {
		p.more("%s more", count(loaded.MoreErrors, "error"))
	}
	for _, text := range loaded.Warnings {
		p.WriteString(yellow.paint("warning", p.colour) + "  " + text + "\n")
	}
	if n := len(loaded.Errors) + loaded.MoreErrors; n > 0 {
		p.WriteString(bold.paint(fmt.Sprintf("invalid: %s in %s", count(n, "error"), count(len(loaded.Objects), "object")), p.colour) + "\n")
	} else {
		p.WriteString(bold.paint("valid: "+kindsText(loaded), p.colour) + "\n")
	}
	if text := ignoredText(loaded.Ignored); text != "" {
		p.WriteString(dim.paint(text, p.colour) + "\n")
	}
	_, err := fmt.Fprint(s.out, p.String())
	return err
}

// kindsText counts the objects that were read by their kind.
func kindsText(loaded *api.Result) string {
	counts := make(map[string]int)
	for i := range loaded.Objects {
		counts[loaded.Objects[i].Kind]++
	}
	if len(counts) == 0 {
		return "there is nothing to check in the input"
	}
	parts := make([]string, 0, len(counts))
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, thousands(counts[kind])+" "+kind)
	}
	return strings.Join(parts, ", ")
}
