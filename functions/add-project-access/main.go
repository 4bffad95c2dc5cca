// Command add-project-access serves POST /api/admin/projects/{projectId}/access.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "add-project-access") }
