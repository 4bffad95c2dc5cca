// Command delete-change-request serves DELETE /api/admin/projects/{projectId}/change-requests/{id}.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "delete-change-request") }
