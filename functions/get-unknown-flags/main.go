// Command get-unknown-flags serves GET /api/admin/metrics/unknown-flags.
package main

import (
	"toggleadmin/pkg/api/clientmetrics"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(clientmetrics.Operations(), "get-unknown-flags") }
