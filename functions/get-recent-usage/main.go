// Command get-recent-usage serves GET /api/admin/client-metrics/features.
package main

import (
	"toggleadmin/pkg/api/clientmetrics"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(clientmetrics.Operations(), "get-recent-usage") }
