// Command update-feedback serves PUT /api/admin/feedback/{id}.
package main

import (
	"toggleadmin/pkg/api/feedback"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(feedback.Operations(), "update-feedback") }
