// Command add-feature-strategy serves POST
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies.
package main

import (
	"toggleadmin/pkg/api/featurestrategy"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featurestrategy.Operations(), "add-feature-strategy") }
