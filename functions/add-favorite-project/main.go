// Command add-favorite-project serves POST /api/admin/projects/{projectId}/favorites.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "add-favorite-project") }
