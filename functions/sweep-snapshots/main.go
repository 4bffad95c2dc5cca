// Command sweep-snapshots compiles what compile-snapshots has left. It runs each minute, and once an hour it compiles
// everything.
package main

import (
	"toggleadmin/pkg/background/compiler"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(compiler.Functions(), "sweep-snapshots") }
