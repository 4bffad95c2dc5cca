// Command turn-off-feature serves POST
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/off.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "turn-off-feature") }
