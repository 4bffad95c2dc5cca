// Command create-user serves POST /api/admin/user-admin.
package main

import (
	"toggleadmin/pkg/api/person"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(person.Operations(), "create-user") }
