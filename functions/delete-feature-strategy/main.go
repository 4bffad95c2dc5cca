// Command delete-feature-strategy serves DELETE
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies/{strategyId}.
package main

import (
	"toggleadmin/pkg/api/featurestrategy"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featurestrategy.Operations(), "delete-feature-strategy") }
