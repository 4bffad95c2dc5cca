// Command add-change-request-comment serves POST /api/admin/projects/{projectId}/change-requests/{id}/comments.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "add-change-request-comment") }
