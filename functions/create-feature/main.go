// Command create-feature serves POST /api/admin/projects/{projectId}/features.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/feature"
)

func main() { app.Main(feature.NewCreateFunction) }
