// Command reevaluate-staleness updates the flags of toggles after a lifetime change. It handles the stream of
// FeatureTypes.
package main

import (
	"toggleadmin/pkg/background/staleness"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(staleness.Functions(), "reevaluate-staleness") }
