// Command remove-environment serves DELETE /api/admin/environments/{name}.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "remove-environment") }
