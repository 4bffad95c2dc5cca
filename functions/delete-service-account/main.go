// Command delete-service-account serves DELETE /api/admin/service-account/{id}.
package main

import (
	"toggleadmin/pkg/api/serviceaccount"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(serviceaccount.Operations(), "delete-service-account") }
