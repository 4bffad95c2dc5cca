// Command get-context-field serves GET /api/admin/context/{name}.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/contextfield"
)

func main() { app.Main(contextfield.NewGetFunction) }
