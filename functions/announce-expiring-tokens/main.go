// Command announce-expiring-tokens sends an event for each personal access token that is about to expire. It runs every
// hour.
package main

import (
	"toggleadmin/pkg/api/pat"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(pat.Functions(), "announce-expiring-tokens") }
