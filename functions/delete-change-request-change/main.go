// Command delete-change-request-change serves
// DELETE /api/admin/projects/{projectId}/change-requests/{id}/changes/{changeId}.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "delete-change-request-change") }
