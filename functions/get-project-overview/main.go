// Command get-project-overview serves GET /api/admin/projects/{projectId}/overview.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "get-project-overview") }
