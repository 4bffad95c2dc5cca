// Command evaluate-features serves POST /api/admin/playground/advanced.
package main

import (
	"toggleadmin/pkg/api/playground"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(playground.Operations(), "evaluate-features") }
