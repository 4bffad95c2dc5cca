// Command change-project serves POST /api/admin/projects/{projectId}/features/{featureName}/changeProject.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "change-project") }
