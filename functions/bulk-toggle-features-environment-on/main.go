// Command bulk-toggle-features-environment-on serves POST
// /api/admin/projects/{projectId}/bulk_features/environments/{environment}/on.
package main

import (
	"toggleadmin/pkg/api/featureswitch"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featureswitch.Operations(), "bulk-toggle-features-environment-on") }
