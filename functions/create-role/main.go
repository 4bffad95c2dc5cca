// Command create-role serves POST /api/admin/roles.
package main

import (
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(role.Operations(), "create-role") }
