// Command create-context-field serves POST /api/admin/context.
package main

import (
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(contextfield.Operations(), "create-context-field") }
