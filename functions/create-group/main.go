// Command create-group serves POST /api/admin/groups.
package main

import (
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(group.Operations(), "create-group") }
