// Command remove-tag serves DELETE /api/admin/features/{featureName}/tags/{type}/{value}.
package main

import (
	"toggleadmin/pkg/api/featuretag"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featuretag.Operations(), "remove-tag") }
