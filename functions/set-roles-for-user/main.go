// Command set-roles-for-user serves PUT /api/admin/projects/{projectId}/users/{userId}/roles.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "set-roles-for-user") }
