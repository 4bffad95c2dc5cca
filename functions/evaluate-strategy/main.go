// Command evaluate-strategy serves POST /api/admin/playground/strategy.
package main

import (
	"toggleadmin/pkg/api/playground"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(playground.Operations(), "evaluate-strategy") }
