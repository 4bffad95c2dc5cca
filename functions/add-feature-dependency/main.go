// Command add-feature-dependency serves POST /api/admin/projects/{projectId}/features/{featureName}/dependencies.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "add-feature-dependency") }
