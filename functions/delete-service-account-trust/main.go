// Command delete-service-account-trust serves DELETE /api/admin/service-account/{id}/trust/{trustId}.
package main

import (
	"toggleadmin/pkg/api/trust"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(trust.Operations(), "delete-service-account-trust") }
