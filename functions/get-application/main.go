// Command get-application serves GET /api/admin/metrics/applications/{appName}.
package main

import (
	"toggleadmin/pkg/api/clientmetrics"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(clientmetrics.Operations(), "get-application") }
