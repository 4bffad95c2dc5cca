package main

import (
	"context"
	"io"
	"strings"
)

// Main is main.
var Main = main

// Run runs a command line without input and returns the exit status.
func Run(ctx context.Context, args []string, out, err io.Writer) int {
	return int(run(ctx, args, streams{in: strings.NewReader(""), out: out, err: err}))
}

// Relative is relative.
var Relative = relative

// WriteTable writes a table of texts, of whose columns all but one can be cut.
func WriteTable(out io.Writer, width int, names []string, whole string, rows [][]string) error {
	var columns []column[[]string]
	for i, name := range names {
		columns = append(columns, column[[]string]{name, func(row []string) string { return row[i] }, name != whole})
	}
	return writeTable(out, width, columns, rows)
}
