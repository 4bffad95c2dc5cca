// Command get-all-feature-types serves GET /api/admin/feature-types.
package main

import (
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featuretype.Operations(), "get-all-feature-types") }
