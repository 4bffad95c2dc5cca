// Command client serves applications: Unleash's client API and frontend API, and OFREP.
package main

import (
	"toggleadmin/pkg/delivery/client"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(client.Functions(), "client") }
