// Command create-api-token serves POST /api/admin/api-tokens.
package main

import (
	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(clienttoken.Operations(), "create-api-token") }
