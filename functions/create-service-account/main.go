// Command create-service-account serves POST /api/admin/service-account.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/serviceaccount"
)

func main() { app.Main(serviceaccount.NewCreateFunction) }
