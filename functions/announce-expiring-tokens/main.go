// Command announce-expiring-tokens records an event for each personal access token and client token that is about to
// expire. It runs every hour.
package main

import (
	"toggleadmin/pkg/background/tokenexpiry"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(tokenexpiry.Functions(), "announce-expiring-tokens") }
