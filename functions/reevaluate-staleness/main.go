// Command reevaluate-staleness flags toggles when the lifetime of their type changes, as the stream of FeatureTypes tells it.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/staleness"
)

func main() { app.Main(staleness.NewReevaluateFunction) }
