// Command list-own-tokens serves GET /api/admin/user/tokens.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/pat"
)

func main() { app.Main(pat.NewListOwnFunction) }
