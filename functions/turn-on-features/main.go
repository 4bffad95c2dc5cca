// Command turn-on-features serves POST
// /api/admin/projects/{projectId}/bulk_features/environments/{environment}/on.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "turn-on-features") }
