// Command get-context-fields serves GET /api/admin/context.
package main

import (
	"toggleadmin/pkg/api/contextfield"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(contextfield.Operations(), "get-context-fields") }
