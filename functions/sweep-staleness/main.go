// Command sweep-staleness flags toggles as time passes, each minute, and finishes what reevaluate-staleness has left.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/staleness"
)

func main() { app.Main(staleness.NewSweepFunction) }
