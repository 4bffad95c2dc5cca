// Command add-feature-dependency serves POST /api/admin/projects/{projectId}/features/{featureName}/dependencies.
package main

import (
	"toggleadmin/pkg/api/featuredependency"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featuredependency.Operations(), "add-feature-dependency") }
