// Command delete-service-account-token serves DELETE /api/admin/service-account/{id}/token/{tokenId}.
package main

import (
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(pat.Operations(), "delete-service-account-token") }
