// Command get-open-change-requests serves GET /api/admin/projects/{projectId}/change-requests/pending.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "get-open-change-requests") }
