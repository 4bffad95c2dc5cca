// Command update-feature-type-lifetime serves PUT /api/admin/feature-types/{id}/lifetime.
package main

import (
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featuretype.Operations(), "update-feature-type-lifetime") }
