// Command search-change-requests serves GET /api/admin/search/change-requests.
package main

import (
	"toggleadmin/pkg/api/changerequest"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(changerequest.Operations(), "search-change-requests") }
