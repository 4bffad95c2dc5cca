// Command update-change-request-change serves
// PUT /api/admin/projects/{projectId}/change-requests/{id}/changes/{changeId}.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "update-change-request-change") }
