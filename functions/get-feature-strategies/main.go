// Command get-feature-strategies serves GET
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "get-feature-strategies") }
