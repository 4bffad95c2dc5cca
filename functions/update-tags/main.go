// Command update-tags serves PUT /api/admin/features/{featureName}/tags.
package main

import (
	"toggleadmin/pkg/api/featuretag"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featuretag.Operations(), "update-tags") }
