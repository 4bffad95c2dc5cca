// Command get-applications serves GET /api/admin/metrics/applications.
package main

import (
	"toggleadmin/pkg/api/clientmetrics"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(clientmetrics.Operations(), "get-applications") }
