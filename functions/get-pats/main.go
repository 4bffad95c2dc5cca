// Command get-pats serves GET /api/admin/user/tokens.
package main

import (
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(pat.Operations(), "get-pats") }
