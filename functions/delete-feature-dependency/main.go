// Command delete-feature-dependency serves DELETE /api/admin/projects/{projectId}/features/{featureName}/dependencies/{parent}.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "delete-feature-dependency") }
