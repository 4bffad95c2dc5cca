// Command list-service-account-tokens serves GET /api/admin/service-account/{id}/token.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/pat"
)

func main() { app.Main(pat.NewListFunction) }
