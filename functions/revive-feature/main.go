// Command revive-feature serves POST /api/admin/archive/revive/{featureName}.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "revive-feature") }
