// Command delete-api-token serves DELETE /api/admin/api-tokens/{token}.
package main

import (
	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(clienttoken.Operations(), "delete-api-token") }
