// Command create-service-account serves POST /api/admin/service-account.
package main

import (
	"toggleadmin/pkg/api/serviceaccount"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(serviceaccount.Operations(), "create-service-account") }
