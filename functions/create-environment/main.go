// Command create-environment serves POST /api/admin/environments.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "create-environment") }
