// Command compile-snapshots compiles what applications download. It handles records of the stream of the table Events.
package main

import (
	"toggleadmin/pkg/background/compiler"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(compiler.Functions(), "compile-snapshots") }
