// Command delete-service-account serves DELETE /api/admin/service-account/{id}.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/serviceaccount"
)

func main() { app.Main(serviceaccount.NewDeleteFunction) }
