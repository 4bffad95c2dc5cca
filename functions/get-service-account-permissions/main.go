// Command get-service-account-permissions serves GET /api/admin/service-account/{id}/permissions.
package main

import (
	"toggleadmin/pkg/api/rights"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(rights.Operations(), "get-service-account-permissions") }
