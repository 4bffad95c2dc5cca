// Command get-context-field serves GET /api/admin/context/{name}.
package main

import (
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(contextfield.Operations(), "get-context-field") }
