// Command get-feature-lifecycle serves GET /api/admin/projects/{projectId}/features/{featureName}/lifecycle.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "get-feature-lifecycle") }
