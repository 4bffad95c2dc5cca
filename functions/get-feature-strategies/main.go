// Command get-feature-strategies serves GET
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies.
package main

import (
	"toggleadmin/pkg/api/featurestrategy"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featurestrategy.Operations(), "get-feature-strategies") }
