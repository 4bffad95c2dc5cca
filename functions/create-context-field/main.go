// Command create-context-field serves POST /api/admin/context.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/contextfield"
)

func main() { app.Main(contextfield.NewCreateFunction) }
