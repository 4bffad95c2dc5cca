// Command record-traffic counts the requests in the access log, which CloudWatch Logs delivers.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/traffic"
)

func main() { app.Main(traffic.NewRecordFunction) }
