// Command search-events serves GET /api/admin/search/events.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/eventlog"
)

func main() { app.Main(eventlog.NewSearchFunction) }
