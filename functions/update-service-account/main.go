// Command update-service-account serves PUT /api/admin/service-account/{id}.
package main

import (
	"toggleadmin/pkg/api/serviceaccount"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(serviceaccount.Operations(), "update-service-account") }
