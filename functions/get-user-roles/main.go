// Command get-user-roles serves GET /api/admin/user/roles.
package main

import (
	"toggleadmin/pkg/api/rights"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(rights.Operations(), "get-user-roles") }
