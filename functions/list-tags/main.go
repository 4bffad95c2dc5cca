// Command list-tags serves GET /api/admin/features/{featureName}/tags.
package main

import (
	"toggleadmin/pkg/api/featuretag"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featuretag.Operations(), "list-tags") }
