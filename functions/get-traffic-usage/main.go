// Command get-traffic-usage serves GET /api/admin/metrics/traffic/{period}.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/traffic"
)

func main() { app.Main(traffic.NewGetFunction) }
