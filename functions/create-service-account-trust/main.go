// Command create-service-account-trust serves POST /api/admin/service-account/{id}/trust.
package main

import (
	"toggleadmin/pkg/api/trust"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(trust.Operations(), "create-service-account-trust") }
