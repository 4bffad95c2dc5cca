// Command create-feature-link serves POST /api/admin/projects/{projectId}/features/{featureName}/link.
package main

import (
	"toggleadmin/pkg/api/featurelink"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featurelink.Operations(), "create-feature-link") }
