// Command update-environment serves PUT /api/admin/environments/update/{name}.
package main

import (
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(environment.Operations(), "update-environment") }
