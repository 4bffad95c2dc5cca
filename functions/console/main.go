// Command console serves the web pages below /console.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/console"
)

func main() { app.Main(console.NewFunction) }
