// Command delete-context-field serves DELETE /api/admin/context/{name}.
package main

import (
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(contextfield.Operations(), "delete-context-field") }
