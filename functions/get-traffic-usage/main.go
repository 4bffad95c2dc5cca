// Command get-traffic-usage serves GET /api/admin/metrics/traffic/{period}.
package main

import (
	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(traffic.Operations(), "get-traffic-usage") }
