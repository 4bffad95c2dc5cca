// Command update-context-field serves PUT /api/admin/context/{name}.
package main

import (
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(contextfield.Operations(), "update-context-field") }
