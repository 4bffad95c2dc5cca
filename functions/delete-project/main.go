// Command delete-project serves DELETE /api/admin/projects/{projectId}.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "delete-project") }
