// Command update-feedback serves PUT /api/admin/feedback/{id}.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/feedback"
)

func main() { app.Main(feedback.NewUpdateFunction) }
