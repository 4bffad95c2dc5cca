// Command get-available-change-request-reviewers serves
// GET /api/admin/projects/{projectId}/change-requests/available-reviewers/{environment}.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "get-available-change-request-reviewers") }
