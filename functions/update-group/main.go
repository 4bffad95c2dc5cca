// Command update-group serves PUT /api/admin/groups/{groupId}.
package main

import (
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(group.Operations(), "update-group") }
