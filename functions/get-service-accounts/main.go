// Command get-service-accounts serves GET /api/admin/service-account.
package main

import (
	"toggleadmin/pkg/api/serviceaccount"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(serviceaccount.Operations(), "get-service-accounts") }
