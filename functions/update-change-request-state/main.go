// Command update-change-request-state serves PUT /api/admin/projects/{projectId}/change-requests/{id}/state.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "update-change-request-state") }
