// Command get-scheduled-change-requests serves GET /api/admin/projects/{projectId}/change-requests/scheduled.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "get-scheduled-change-requests") }
