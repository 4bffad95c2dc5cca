// Command get-feature-environment serves GET
// /api/admin/projects/{projectId}/features/{featureName}/environments/{environment}.
package main

import (
	"toggleadmin/pkg/api/featureswitch"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featureswitch.Operations(), "get-feature-environment") }
