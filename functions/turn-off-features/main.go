// Command turn-off-features serves POST
// /api/admin/projects/{projectId}/bulk_features/environments/{environment}/off.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "turn-off-features") }
