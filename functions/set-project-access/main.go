// Command set-project-access serves PUT /api/admin/projects/{projectId}/access.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "set-project-access") }
