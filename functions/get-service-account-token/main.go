// Command get-service-account-token serves GET /api/admin/service-account/{id}/token/{tokenId}.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/pat"
)

func main() { app.Main(pat.NewGetFunction) }
