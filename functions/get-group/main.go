// Command get-group serves GET /api/admin/groups/{groupId}.
package main

import (
	"toggleadmin/pkg/api/group"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(group.Operations(), "get-group") }
