// Command get-open-change-requests-for-feature serves
// GET /api/admin/projects/{projectId}/change-requests/pending/{featureName}.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "get-open-change-requests-for-feature") }
