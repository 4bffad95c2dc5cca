// Command sweep-usage computes each minute, from what the processes of functions/client count, what the API reports of
// the use of toggles.
package main

import (
	"toggleadmin/pkg/background/usagemerger"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(usagemerger.Functions(), "sweep-usage") }
