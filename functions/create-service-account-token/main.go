// Command create-service-account-token serves POST /api/admin/service-account/{id}/token.
package main

import (
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(pat.Operations(), "create-service-account-token") }
