// Command update-project serves PUT /api/admin/projects/{projectId}.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "update-project") }
