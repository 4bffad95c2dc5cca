// Command search-features serves GET /api/admin/search/features.
package main

import (
	"toggleadmin/pkg/api/featuresearch"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featuresearch.Operations(), "search-features") }
