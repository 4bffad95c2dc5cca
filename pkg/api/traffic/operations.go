package traffic

import (
	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Operations returns the operations of this package.
func Operations() []app.Operation {
	return []app.Operation{
		{
			Name:     "get-traffic-usage",
			Route:    "GET /api/admin/metrics/traffic/{period}",
			Requires: access.Has(access.Admin),
			Tables:   []string{Table},
			Handler:  func(d *app.Deps) lambdahttp.HandlerFunc { return Get(NewStore(d.DynamoDB, d.Tables)) },
		},
	}
}

// Functions returns the function that counts the requests in the access log.
func Functions() []app.Function {
	return []app.Function{{
		Name: "record-traffic",
		Handler: func(d *app.Deps) lambda.Handler {
			d.OpenTables(Table)
			recorder := &Recorder{
				Store:    NewStore(d.DynamoDB, d.Tables),
				Paths:    CountedPaths(),
				Now:      d.Now,
				Logger:   d.Logger,
				Function: d.Vars["AWS_LAMBDA_FUNCTION_NAME"],
			}
			return app.Event(recorder.Handle)
		},
	}}
}
