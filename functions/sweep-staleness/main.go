// Command sweep-staleness updates the flags of toggles every minute, as time passes, and completes unfinished
// re-evaluations.
package main

import (
	"toggleadmin/pkg/background/staleness"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(staleness.Functions(), "sweep-staleness") }
