// Command bulk-toggle-features-environment-on serves POST
// /api/admin/projects/{projectId}/bulk_features/environments/{environment}/on.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "bulk-toggle-features-environment-on") }
