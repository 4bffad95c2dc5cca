// Command get-project-access serves GET /api/admin/projects/{projectId}/access.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "get-project-access") }
