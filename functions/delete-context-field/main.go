// Command delete-context-field serves DELETE /api/admin/context/{name}.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/contextfield"
)

func main() { app.Main(contextfield.NewDeleteFunction) }
