// Command evaluate-change-request serves POST /api/admin/playground/change-request/{id}.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "evaluate-change-request") }
