// Command get-feature-code-references serves GET /api/admin/projects/{projectId}/features/{featureName}/code-references.
package main

import (
	"toggleadmin/pkg/api/codereference"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(codereference.Operations(), "get-feature-code-references") }
