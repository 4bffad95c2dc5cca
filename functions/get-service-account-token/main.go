// Command get-service-account-token serves GET /api/admin/service-account/{id}/token/{tokenId}.
package main

import (
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(pat.Operations(), "get-service-account-token") }
