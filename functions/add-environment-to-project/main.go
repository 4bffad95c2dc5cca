// Command add-environment-to-project serves POST /api/admin/projects/{projectId}/environments.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "add-environment-to-project") }
