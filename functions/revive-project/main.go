// Command revive-project serves POST /api/admin/projects/revive/{projectId}.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "revive-project") }
