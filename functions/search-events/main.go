// Command search-events serves GET /api/admin/search/events.
package main

import (
	"toggleadmin/pkg/api/eventsearch"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(eventsearch.Operations(), "search-events") }
