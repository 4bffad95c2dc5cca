// Command get-tags-by-type serves GET /api/admin/tags/{type}.
package main

import (
	"toggleadmin/pkg/api/featuretag"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featuretag.Operations(), "get-tags-by-type") }
