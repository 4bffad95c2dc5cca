// Command get-features serves GET /api/admin/projects/{projectId}/features.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "get-features") }
