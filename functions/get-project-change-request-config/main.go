// Command get-project-change-request-config serves GET /api/admin/projects/{projectId}/change-requests/config.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "get-project-change-request-config") }
