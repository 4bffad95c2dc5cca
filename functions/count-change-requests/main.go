// Command count-change-requests serves GET /api/admin/projects/{projectId}/change-requests/count.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "count-change-requests") }
