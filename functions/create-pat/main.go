// Command create-pat serves POST /api/admin/user/tokens.
package main

import (
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(pat.Operations(), "create-pat") }
