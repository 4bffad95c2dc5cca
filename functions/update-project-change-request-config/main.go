// Command update-project-change-request-config serves PUT
// /api/admin/projects/{projectId}/environments/{environment}/change-requests/config.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "update-project-change-request-config") }
