// Command update-feature serves PUT /api/admin/projects/{projectId}/features/{featureName}.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "update-feature") }
