// Command get-saved-views serves GET /api/admin/user/views.
package main

import (
	"toggleadmin/pkg/api/savedview"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(savedview.Operations(), "get-saved-views") }
