// Command archive-feature serves DELETE /api/admin/projects/{projectId}/features/{featureName}.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "archive-feature") }
