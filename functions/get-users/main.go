// Command get-users serves GET /api/admin/user-admin.
package main

import (
	"toggleadmin/pkg/api/person"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(person.Operations(), "get-users") }
