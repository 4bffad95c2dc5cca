// Command update-features serves PUT /api/admin/projects/{projectId}/features.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "update-features") }
