// Command set-strategy-sort-order serves POST
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies/set-sort-order.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "set-strategy-sort-order") }
