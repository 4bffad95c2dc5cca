// Command get-project-environments serves GET /api/admin/environments/project/{projectId}.
package main

import (
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(environment.Operations(), "get-project-environments") }
