package webhook

import (
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/parameter"
)

// Functions returns the function that sends events to the webhook.
func Functions() []app.Function {
	return []app.Function{{
		Name: "deliver-webhook",
		Handler: func(d *app.Deps) lambda.Handler {
			config := d.AWSConfig()
			h := &Handler{
				Parameter: parameter.NewStore(config, d.Var("WEBHOOK_SECRET_NAME")),
				Queue:     NewQueue(config, d.Var("WEBHOOK_QUEUE"), d.Var("WEBHOOK_FAILURES")),
				Loopback:  d.Local,
				Transport: d.Transport,
				Now:       d.Now,
				Logger:    d.Logger,
			}
			return app.Event(h.Handle)
		},
	}}
}
