// Command deliver-webhook sends the events of a queue to the webhook.
package main

import (
	"toggleadmin/pkg/background/webhook"
	"toggleadmin/pkg/platform/app"
)

func main() { app.Main(webhook.Functions(), "deliver-webhook") }
