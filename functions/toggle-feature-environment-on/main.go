// Command toggle-feature-environment-on serves POST
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/on.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "toggle-feature-environment-on") }
