// Command get-feature-usage-summary serves GET /api/admin/client-metrics/features/{name}.
package main

import (
	"toggleadmin/pkg/api/clientmetrics"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(clientmetrics.Operations(), "get-feature-usage-summary") }
