// Command toggle-feature-environment-off serves POST
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/off.
package main

import (
	"toggleadmin/pkg/api/featureswitch"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featureswitch.Operations(), "toggle-feature-environment-off") }
