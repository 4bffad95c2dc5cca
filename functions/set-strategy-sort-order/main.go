// Command set-strategy-sort-order serves POST
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}/strategies/set-sort-order.
package main

import (
	"toggleadmin/pkg/api/featurestrategy"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featurestrategy.Operations(), "set-strategy-sort-order") }
