// Command health responds to health checks.
package main

import "toggleadmin/pkg/platform/app"

func main() { app.Main(app.Functions(), "health") }
