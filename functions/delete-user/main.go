// Command delete-user serves DELETE /api/admin/user-admin/{id}.
package main

import (
	"toggleadmin/pkg/api/person"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(person.Operations(), "delete-user") }
