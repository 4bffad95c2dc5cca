// Command publish-events sends the events of the log to the bus. It handles records of the stream of the table Events.
package main

import (
	"toggleadmin/pkg/background/eventbus"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(eventbus.Functions(), "publish-events") }
