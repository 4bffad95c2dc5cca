// Command rotate-api-token serves POST /api/admin/api-tokens/{token}/rotate.
package main

import (
	"toggleadmin/pkg/api/clienttoken"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(clienttoken.Operations(), "rotate-api-token") }
