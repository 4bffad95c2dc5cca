// Command announce-expiring-tokens sends an event for each personal access token that is about to expire. It runs every hour.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/pat"
)

func main() { app.Main(pat.NewAnnounceFunction) }
