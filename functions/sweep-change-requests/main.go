// Command sweep-change-requests applies, each minute, the change requests whose time has come.
package main

import (
	"toggleadmin/pkg/background/schedule"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(schedule.Functions(), "sweep-change-requests") }
