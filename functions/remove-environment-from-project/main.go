// Command remove-environment-from-project serves DELETE /api/admin/projects/{projectId}/environments/{environment}.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "remove-environment-from-project") }
