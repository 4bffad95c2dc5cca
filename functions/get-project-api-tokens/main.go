// Command get-project-api-tokens serves GET /api/admin/projects/{projectId}/api-tokens.
package main

import (
	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(clienttoken.Operations(), "get-project-api-tokens") }
