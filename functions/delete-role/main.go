// Command delete-role serves DELETE /api/admin/roles/{roleId}.
package main

import (
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(role.Operations(), "delete-role") }
