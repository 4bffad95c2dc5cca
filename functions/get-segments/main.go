// Command get-segments serves GET /api/admin/segments.
package main

import (
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(segment.Operations(), "get-segments") }
