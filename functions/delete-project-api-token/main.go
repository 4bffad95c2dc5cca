// Command delete-project-api-token serves DELETE /api/admin/projects/{projectId}/api-tokens/{token}.
package main

import (
	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(clienttoken.Operations(), "delete-project-api-token") }
