// Command add-favorite-feature serves POST /api/admin/projects/{projectId}/features/{featureName}/favorites.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "add-favorite-feature") }
