// Command update-feature-type-lifetime serves PUT /api/admin/feature-types/{id}/lifetime.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/featuretype"
)

func main() { app.Main(featuretype.NewUpdateLifetimeFunction) }
