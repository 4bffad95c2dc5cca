// Command bulk-toggle-features-environment-off serves POST
// /api/admin/projects/{projectId}/bulk_features/environments/{environment}/off.
package main

import (
	"toggleadmin/pkg/api/featureswitch"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featureswitch.Operations(), "bulk-toggle-features-environment-off") }
