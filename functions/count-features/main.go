// Command count-features serves GET /api/admin/search/features/counts.
package main

import (
	"toggleadmin/pkg/api/featuresearch"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featuresearch.Operations(), "count-features") }
