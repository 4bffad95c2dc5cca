// Command get-roles serves GET /api/admin/roles.
package main

import (
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(role.Operations(), "get-roles") }
