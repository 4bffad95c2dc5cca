// Command get-segment-strategies serves GET /api/admin/segments/{id}/strategies.
package main

import (
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(segment.Operations(), "get-segment-strategies") }
