// Command update-change-request-title serves PUT /api/admin/projects/{projectId}/change-requests/{id}/title.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "update-change-request-title") }
