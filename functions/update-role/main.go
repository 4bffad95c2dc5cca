// Command update-role serves PUT /api/admin/roles/{roleId}.
package main

import (
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(role.Operations(), "update-role") }
