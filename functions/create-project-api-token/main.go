// Command create-project-api-token serves POST /api/admin/projects/{projectId}/api-tokens.
package main

import (
	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(clienttoken.Operations(), "create-project-api-token") }
