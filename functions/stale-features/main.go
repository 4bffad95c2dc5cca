// Command stale-features serves POST /api/admin/projects/{projectId}/stale.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "stale-features") }
