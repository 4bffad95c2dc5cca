// Command list-features serves GET /api/admin/projects/{projectId}/features.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/feature"
)

func main() { app.Main(feature.NewListFunction) }
