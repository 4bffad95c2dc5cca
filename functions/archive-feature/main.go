// Command archive-feature serves DELETE /api/admin/projects/{projectId}/features/{featureName}.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/feature"
)

func main() { app.Main(feature.NewArchiveFunction) }
