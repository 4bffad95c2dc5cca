package eventbus

import (
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/user"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
)

// Functions returns the function that sends the events of the log to the bus.
func Functions() []app.Function {
	return []app.Function{{
		Name: "publish-events",
		Handler: func(d *app.Deps) lambda.Handler {
			d.OpenTables(user.Table)
			config := d.AWSConfig()
			p := &Publisher{
				Bus:    NewBus(config, d.Var("EVENT_BUS")),
				Names:  user.NewNames(d.DynamoDB, d.Tables),
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
