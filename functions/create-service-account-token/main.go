// Command create-service-account-token serves POST /api/admin/service-account/{id}/token.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/pat"
)

func main() { app.Main(pat.NewCreateFunction) }
