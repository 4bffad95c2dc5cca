// Command set-saved-views serves PUT /api/admin/user/views.
package main

import (
	"toggleadmin/pkg/api/savedview"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(savedview.Operations(), "set-saved-views") }
