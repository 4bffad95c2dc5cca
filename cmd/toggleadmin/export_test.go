package main

import (
	"context"
	"io"
	"strings"

	"toggleadmin/pkg/operator"
)

// Main is main.
var Main = main

// Run runs a command line without input and returns the exit status.
func Run(ctx context.Context, args []string, out, err io.Writer) int {
	return int(run(ctx, args, streams{in: strings.NewReader(""), out: out, err: err}))
}

// Relative is relative.
var Relative = relative

// ArchiveToggles archives toggles as a command does, and returns the names of those that it has changed.
func ArchiveToggles(ctx context.Context, o *operator.Operator, names []string) ([]string, error) {
	s := &session{ctx: ctx}
	result := operator.ToggleChanges{}
	err := s.changeToggles(o, names, operator.Archive, &result)
	return result.Changed, err
}

// WriteTable writes a table of ids, names and descriptions. Descriptions are cut before names.
func WriteTable(out io.Writer, width int, rows [][3]string) error {
	return writeTable(out, width, []column[[3]string]{
		{name: "ID", cell: func(row [3]string) string { return row[0] }},
		{name: "NAME", cell: func(row [3]string) string { return row[1] }, cut: cutLast, isName: true},
		{name: "DESCRIPTION", cell: func(row [3]string) string { return row[2] }, cut: cutFirst},
	}, rows)
}

// ExplanationOf is explanationOf.
var ExplanationOf = explanationOf
