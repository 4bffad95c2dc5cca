// Command get-user-permissions serves GET /api/admin/user-admin/{id}/permissions.
package main

import (
	"toggleadmin/pkg/api/rights"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(rights.Operations(), "get-user-permissions") }
