// The generator of the instance type table that internal/catalog embeds:
//
//	CATALOG_FACTS=DIR CATALOG_STAMP="types and prices of 2026-07" go generate ./internal/catalog
//
// DIR has the files that source.Folder describes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/dovetail-sh/dovetail/internal/catalog"
	"github.com/dovetail-sh/dovetail/internal/catalog/source"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "catalog generator:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("gen", flag.ContinueOnError)
	from := flags.String("from", "", "the folder that has the facts")
	stamp := flags.String("stamp", "", "of when the facts are, in words")
	out := flags.String("out", "", "the file to write the table to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *from == "" || *stamp == "" || *out == "" || flags.NArg() > 0 {
		return errors.New("-from, -stamp and -out are needed and nothing else: set CATALOG_FACTS and CATALOG_STAMP for go generate")
	}
	table, notes, err := source.Build(source.Folder(os.DirFS(*from), *stamp))
	if err != nil {
		return err
	}
	data, err := catalog.Encode(table)
	if err != nil {
		return err
	}
	if err := os.WriteFile(*out, data, 0o644); err != nil {
		return err
	}
	for _, n := range notes {
		fmt.Println(n)
	}
	fmt.Printf("%d types, %d regions, %d bytes\n", len(table.Types), len(table.Regions), len(data))
	return nil
}
