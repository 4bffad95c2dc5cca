// Command set-roles-for-group serves PUT /api/admin/projects/{projectId}/groups/{groupId}/roles.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "set-roles-for-group") }
