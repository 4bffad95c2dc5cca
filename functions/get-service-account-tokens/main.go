// Command get-service-account-tokens serves GET /api/admin/service-account/{id}/token.
package main

import (
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(pat.Operations(), "get-service-account-tokens") }
