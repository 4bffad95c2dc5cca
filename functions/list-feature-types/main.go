// Command list-feature-types serves GET /api/admin/feature-types.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/featuretype"
)

func main() { app.Main(featuretype.NewListFunction) }
