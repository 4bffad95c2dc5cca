package staleness

import (
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/featuretype"
	"toggleadmin/pkg/api/stalenessindex"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/dynamo"
)

// Functions returns the functions that keep the flags of toggles up to date.
func Functions() []app.Function {
	return []app.Function{
		{
			Name:    "reevaluate-staleness",
			Handler: func(d *app.Deps) lambda.Handler { return app.Event(newHandler(d).Stream) },
		},
		{
			Name:    "sweep-staleness",
			Handler: func(d *app.Deps) lambda.Handler { return app.Event(newHandler(d).Sweep) },
		},
	}
}

func newHandler(d *app.Deps) *Handler {
	d.OpenTables(featuretype.Table, featuretable.Table, eventlog.Table)
	return &Handler{
		Evaluator: &Evaluator{
			Toggles:     stalenessindex.NewFlags(d.DynamoDB, d.Tables, eventlog.Open(d.DynamoDB, d.Tables, d.Now, d.Number)),
			Types:       featuretype.NewStore(d.DynamoDB, d.Tables, nil),
			Now:         d.Now,
			Pause:       dynamo.Pause,
			Concurrency: d.Concurrency,
		},
		Logger:   d.Logger,
		Function: d.Vars["AWS_LAMBDA_FUNCTION_NAME"],
	}
}
