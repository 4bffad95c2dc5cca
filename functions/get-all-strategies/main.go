// Command get-all-strategies serves GET /api/admin/strategies.
package main

import (
	"toggleadmin/pkg/api/featurestrategy"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featurestrategy.Operations(), "get-all-strategies") }
