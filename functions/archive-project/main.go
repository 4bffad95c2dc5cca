// Command archive-project serves POST /api/admin/projects/archive/{projectId}.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "archive-project") }
