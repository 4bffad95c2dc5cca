// Command set-environment-freeze serves PUT /api/admin/environments/{name}/freeze.
package main

import (
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(environment.Operations(), "set-environment-freeze") }
