// Command list-service-account-tokens serves GET /api/admin/service-account/{id}/token.
package main

import (
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(pat.Operations(), "list-service-account-tokens") }
