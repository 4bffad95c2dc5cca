// Command update-feature-link serves PUT /api/admin/projects/{projectId}/features/{featureName}/link/{linkId}.
package main

import (
	"toggleadmin/pkg/api/featurelink"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featurelink.Operations(), "update-feature-link") }
