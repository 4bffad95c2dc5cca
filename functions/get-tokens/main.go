// Command get-tokens serves GET /api/admin/tokens.
package main

import (
	"toggleadmin/pkg/api/tokenlist"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(tokenlist.Operations(), "get-tokens") }
