// Command add-tag-to-features serves PUT /api/admin/projects/{projectId}/tags.
package main

import (
	"toggleadmin/pkg/api/featuretag"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featuretag.Operations(), "add-tag-to-features") }
