package client

import (
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/lambdahttp"
)

// maxFreshness is the maximum of FRESHNESS_MILLISECONDS.
const maxFreshness = 60_000

// Functions returns the function that serves applications.
func Functions() []app.Function {
	return []app.Function{{
		Name: "client",
		Handler: func(d *app.Deps) lambda.Handler {
			d.OpenTables(clienttokentable.Table, snapshottable.Table, usagetable.Table)
			return lambdahttp.FunctionURL(New(Config{
				DynamoDB:  d.DynamoDB,
				Tables:    d.Tables,
				Freshness: time.Duration(d.Number("FRESHNESS_MILLISECONDS", 0, maxFreshness)) * time.Millisecond,
				Origins:   strings.Split(d.Var("FRONTEND_ORIGINS"), ","),
				Now:       d.Now,
				Random:    d.Random,
				Logger:    d.Logger,
				Function:  d.Vars["AWS_LAMBDA_FUNCTION_NAME"],
			}))
		},
	}}
}
