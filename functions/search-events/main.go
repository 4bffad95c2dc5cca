// Command search-events serves GET /api/admin/search/events.
package main

import (
	"toggleadmin/pkg/api/eventlog"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(eventlog.Operations(), "search-events") }
