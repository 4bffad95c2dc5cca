// Command remove-environment serves DELETE /api/admin/environments/{name}.
package main

import (
	"toggleadmin/pkg/api/environmentremoval"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(environmentremoval.Operations(), "remove-environment") }
