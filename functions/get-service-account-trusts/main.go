// Command get-service-account-trusts serves GET /api/admin/service-account/{id}/trust.
package main

import (
	"toggleadmin/pkg/api/trust"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(trust.Operations(), "get-service-account-trusts") }
