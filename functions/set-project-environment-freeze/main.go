// Command set-project-environment-freeze serves PUT /api/admin/projects/{projectId}/environments/{environment}/freeze.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "set-project-environment-freeze") }
