// Command delete-feature-dependency serves DELETE /api/admin/projects/{projectId}/features/{featureName}/dependencies/{parent}.
package main

import (
	"toggleadmin/pkg/api/featuredependency"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featuredependency.Operations(), "delete-feature-dependency") }
