// Command delete-pat serves DELETE /api/admin/user/tokens/{id}.
package main

import (
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(pat.Operations(), "delete-pat") }
