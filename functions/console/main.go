// Command console serves the web pages below /console.
package main

import (
	"toggleadmin/pkg/api/console"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(console.Functions(), "console") }
