// Command update-context-field serves PUT /api/admin/context/{name}.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/contextfield"
)

func main() { app.Main(contextfield.NewUpdateFunction) }
