// Command mark-features-stale serves POST /api/admin/projects/{projectId}/stale.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "mark-features-stale") }
