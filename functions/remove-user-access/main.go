// Command remove-user-access serves DELETE /api/admin/projects/{projectId}/users/{userId}/roles.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "remove-user-access") }
