// Command remove-favorite-project serves DELETE /api/admin/projects/{projectId}/favorites.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "remove-favorite-project") }
