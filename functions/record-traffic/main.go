// Command record-traffic counts the requests in the access log, which CloudWatch Logs delivers.
package main

import (
	"toggleadmin/pkg/api/traffic"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(traffic.Functions(), "record-traffic") }
