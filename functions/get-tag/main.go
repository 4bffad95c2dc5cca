// Command get-tag serves GET /api/admin/tags/{type}/{value}.
package main

import (
	"toggleadmin/pkg/api/featuretag"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featuretag.Operations(), "get-tag") }
