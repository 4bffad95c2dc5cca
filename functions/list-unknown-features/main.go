// Command list-unknown-features serves GET /api/admin/metrics/unknown-flags.
package main

import (
	"toggleadmin/pkg/api/clientmetrics"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(clientmetrics.Operations(), "list-unknown-features") }
