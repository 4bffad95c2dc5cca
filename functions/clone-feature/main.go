// Command clone-feature serves POST /api/admin/projects/{projectId}/features/{featureName}/clone.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "clone-feature") }
