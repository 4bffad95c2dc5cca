package eventbus

import (
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
)

// Functions returns the function that sends the events of the log to the bus.
func Functions() []app.Function {
	return []app.Function{{
		Name: "publish-events",
		Handler: func(d *app.Deps) lambda.Handler {
			config := d.AWSConfig()
			p := &Publisher{
				Bus:    NewBus(config, d.Var("EVENT_BUS")),
				Source: d.Var("EVENT_SOURCE"),
				Now:    d.Now,
				Pause:  dynamo.Pause,
				Logger: d.Logger,
				Reject: newRejections(config, d.Var("REJECTED_EVENTS_QUEUE")),
			}
			return app.Event(p.Publish)
		},
	}}
}
