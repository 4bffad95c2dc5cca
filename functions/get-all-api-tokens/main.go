// Command get-all-api-tokens serves GET /api/admin/api-tokens.
package main

import (
	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(clienttoken.Operations(), "get-all-api-tokens") }
