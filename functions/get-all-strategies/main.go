// Command get-all-strategies serves GET /api/admin/strategies.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "get-all-strategies") }
