// Command delete-environment serves DELETE /api/admin/environments/{name}.
package main

import (
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(environment.Operations(), "delete-environment") }
