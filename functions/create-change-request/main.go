// Command create-change-request serves
// POST /api/admin/projects/{projectId}/environments/{environment}/change-requests.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "create-change-request") }
