// Command list-strategy-types serves GET /api/admin/strategies.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "list-strategy-types") }
