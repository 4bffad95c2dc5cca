// Command remove-group-access serves DELETE /api/admin/projects/{projectId}/groups/{groupId}/roles.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "remove-group-access") }
