// Command set-feature-state serves PUT /api/admin/projects/{projectId}/features/{featureName}/state.
package main

import (
	"toggleadmin/pkg/api/featurestate"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(featurestate.Operations(), "set-feature-state") }
