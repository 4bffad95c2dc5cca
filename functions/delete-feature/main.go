// Command delete-feature serves DELETE /api/admin/archive/{featureName}.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "delete-feature") }
