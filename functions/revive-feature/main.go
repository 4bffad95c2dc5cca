// Command revive-feature serves POST /api/admin/archive/revive/{featureName}.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/feature"
)

func main() { app.Main(feature.NewReviveFunction) }
