package compiler

import (
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/api/environment"
	"toggleadmin/pkg/api/featuretable"
	"toggleadmin/pkg/api/segmenttable"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/eventlog"
	"toggleadmin/pkg/platform/app"
)

// Functions returns the functions that compile snapshots.
func Functions() []app.Function {
	return []app.Function{
		{
			Name:    "compile-snapshots",
			Handler: func(d *app.Deps) lambda.Handler { return app.Event(newHandler(d).Stream) },
		},
		{
			Name:    "sweep-snapshots",
			Handler: func(d *app.Deps) lambda.Handler { return app.Event(newHandler(d).Sweep) },
		},
	}
}

func newHandler(d *app.Deps) *Handler {
	d.OpenTables(featuretable.Table, segmenttable.Table, environment.Table, snapshottable.Table, eventlog.Table)
	compiler := New(d.DynamoDB, d.Tables, d.Now, d.Random, d.Logger)
	compiler.Function = d.Vars["AWS_LAMBDA_FUNCTION_NAME"]
	return &Handler{
		Compiler: compiler,
		Events:   eventlog.NewReader(eventlog.New(d.DynamoDB, d.Tables, d.Now, eventlog.DefaultDays)),
	}
}
