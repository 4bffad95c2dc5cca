// Command update-change-request-approvers serves
// PUT /api/admin/projects/{projectId}/change-requests/{id}/approvers.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "update-change-request-approvers") }
