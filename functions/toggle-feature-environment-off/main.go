// Command toggle-feature-environment-off serves POST
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/off.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "toggle-feature-environment-off") }
