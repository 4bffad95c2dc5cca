// Command search-features serves GET /api/admin/search/features.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/feature"
)

func main() { app.Main(feature.NewSearchFunction) }
