// Command get-raw-feature-metrics serves GET /api/admin/client-metrics/features/{name}/raw.
package main

import (
	"toggleadmin/pkg/api/clientmetrics"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(clientmetrics.Operations(), "get-raw-feature-metrics") }
