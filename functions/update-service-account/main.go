// Command update-service-account serves PUT /api/admin/service-account/{id}.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/serviceaccount"
)

func main() { app.Main(serviceaccount.NewUpdateFunction) }
