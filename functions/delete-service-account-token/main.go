// Command delete-service-account-token serves DELETE /api/admin/service-account/{id}/token/{tokenId}.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/pat"
)

func main() { app.Main(pat.NewDeleteFunction) }
