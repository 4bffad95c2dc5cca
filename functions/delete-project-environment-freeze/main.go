// Command delete-project-environment-freeze serves
// DELETE /api/admin/projects/{projectId}/environments/{environment}/freeze.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "delete-project-environment-freeze") }
