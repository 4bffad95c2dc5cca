// Command get-change-request serves GET /api/admin/projects/{projectId}/change-requests/{id}.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "get-change-request") }
