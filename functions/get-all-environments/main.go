// Command get-all-environments serves GET /api/admin/environments.
package main

import (
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(environment.Operations(), "get-all-environments") }
