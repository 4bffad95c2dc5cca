// Command create-environment serves POST /api/admin/environments.
package main

import (
	"toggleadmin/pkg/api/environmentremoval"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(environmentremoval.Operations(), "create-environment") }
