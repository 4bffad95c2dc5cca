// Command get-permissions serves GET /api/admin/permissions.
package main

import (
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(role.Operations(), "get-permissions") }
