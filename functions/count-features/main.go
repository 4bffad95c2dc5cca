// Command count-features serves GET /api/admin/search/features/counts.
package main

import (
	"toggleadmin/pkg/api/feature"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feature.Operations(), "count-features") }
