// Command deliver-webhook sends the events of a queue to the webhook.
package main

import (
	"toggleadmin/pkg/app"
	"toggleadmin/pkg/webhook"
)

func main() { app.Main(webhook.NewDeliverFunction) }
