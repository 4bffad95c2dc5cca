// Command delete-environment-freeze serves DELETE /api/admin/environments/{name}/freeze.
package main

import (
	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(environment.Operations(), "delete-environment-freeze") }
