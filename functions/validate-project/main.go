// Command validate-project serves POST /api/admin/projects/validate.
package main

import (
	"toggleadmin/pkg/api/project"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(project.Operations(), "validate-project") }
