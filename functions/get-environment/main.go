// Command get-environment serves GET /api/admin/environments/{name}.
package main

import (
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(environment.Operations(), "get-environment") }
