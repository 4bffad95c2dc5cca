// Command get-me serves GET /api/admin/user.
package main

import (
	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(user.Operations(), "get-me") }
