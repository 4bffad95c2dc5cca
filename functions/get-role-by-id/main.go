// Command get-role-by-id serves GET /api/admin/roles/{roleId}.
package main

import (
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(role.Operations(), "get-role-by-id") }
