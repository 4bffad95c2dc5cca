// Command update-project-settings serves PUT /api/admin/projects/{projectId}/settings.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "update-project-settings") }
