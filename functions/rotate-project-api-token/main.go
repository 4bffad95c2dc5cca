// Command rotate-project-api-token serves POST /api/admin/projects/{projectId}/api-tokens/{token}/rotate.
package main

import (
	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(clienttoken.Operations(), "rotate-project-api-token") }
