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
