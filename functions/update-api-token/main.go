// Command update-api-token serves PUT /api/admin/api-tokens/{token}.
package main

import (
	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(clienttoken.Operations(), "update-api-token") }
