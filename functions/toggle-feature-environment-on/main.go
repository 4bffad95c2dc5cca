// Command toggle-feature-environment-on serves POST
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/on.
package main

import (
	"toggleadmin/pkg/api/featureswitch"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featureswitch.Operations(), "toggle-feature-environment-on") }
