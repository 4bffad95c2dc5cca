// Command get-project-environment-freeze serves GET /api/admin/projects/{projectId}/environments/{environment}/freeze.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "get-project-environment-freeze") }
