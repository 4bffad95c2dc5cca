// Command list-service-accounts serves GET /api/admin/service-account.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/serviceaccount"
)

func main() { app.Main(serviceaccount.NewListFunction) }
