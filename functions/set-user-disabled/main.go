// Command set-user-disabled serves PUT /api/admin/user-admin/{id}/disabled.
package main

import (
	"toggleadmin/pkg/api/person"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(person.Operations(), "set-user-disabled") }
