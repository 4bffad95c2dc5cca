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

// WriteTable writes a table of texts, of whose columns all but one can be cut.
func WriteTable(out io.Writer, width int, names []string, whole string, rows [][]string) error {
	var columns []column[[]string]
	for i, name := range names {
		columns = append(columns, column[[]string]{name, func(row []string) string { return row[i] }, name != whole})
	}
	return writeTable(out, width, columns, rows)
}
