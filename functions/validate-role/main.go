// Command validate-role serves POST /api/admin/roles/validate.
package main

import (
	"toggleadmin/pkg/api/role"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(role.Operations(), "validate-role") }
