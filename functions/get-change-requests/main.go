// Command get-change-requests serves GET /api/admin/projects/{projectId}/change-requests.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "get-change-requests") }
