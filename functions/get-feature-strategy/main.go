// Command get-feature-strategy serves GET
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies/{strategyId}.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "get-feature-strategy") }
