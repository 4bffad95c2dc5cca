// Command get-environment-freeze serves GET /api/admin/environments/{name}/freeze.
package main

import (
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(environment.Operations(), "get-environment-freeze") }
