// Command delete-feature serves DELETE /api/admin/archive/{featureName}.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/feature"
)

func main() { app.Main(feature.NewDeleteFunction) }
