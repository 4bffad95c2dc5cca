// Command remove-segment serves DELETE /api/admin/segments/{id}.
package main

import (
	"toggleadmin/pkg/api/segment"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(segment.Operations(), "remove-segment") }
