// Command get-actionable-change-requests serves GET /api/admin/projects/{projectId}/change-requests/actionable.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "get-actionable-change-requests") }
