// Command list-context-fields serves GET /api/admin/context.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/contextfield"
)

func main() { app.Main(contextfield.NewListFunction) }
