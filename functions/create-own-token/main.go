// Command create-own-token serves POST /api/admin/user/tokens.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/pat"
)

func main() { app.Main(pat.NewCreateOwnFunction) }
