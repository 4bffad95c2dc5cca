// Command mark-features-stale serves POST /api/admin/projects/{projectId}/stale.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/feature"
)

func main() { app.Main(feature.NewMarkStaleFunction) }
