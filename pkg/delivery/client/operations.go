package client

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/delivery/clienttokentable"
	"toggleadmin/pkg/delivery/snapshottable"
	"toggleadmin/pkg/delivery/usagetable"
	"toggleadmin/pkg/platform/app"
	"toggleadmin/pkg/platform/parameter"
)

// maxFreshness is the maximum of FRESHNESS_MILLISECONDS.
const maxFreshness = 60_000

// Functions returns the function that serves applications.
func Functions() []app.Function {
	return []app.Function{{
		Name: "client",
		Handler: func(d *app.Deps) lambda.Handler {
			d.OpenTables(clienttokentable.Table, snapshottable.Table, usagetable.Table)
			proxies, err := ParseProxies(d.Var("TRUSTED_PROXIES"))
			if err != nil {
				d.Fail(fmt.Errorf("the environment variable TRUSTED_PROXIES %w", err))
			}
			var secrets func(context.Context) (string, error)
			if name := d.Vars["CLIENT_ORIGIN_SECRET"]; name != "" {
				secrets = parameter.NewStore(d.AWSConfig(), name).Get
			}
			return d.FunctionURL(New(Config{
				DynamoDB:  d.DynamoDB,
				Tables:    d.Tables,
				Freshness: time.Duration(d.Number("FRESHNESS_MILLISECONDS", 0, maxFreshness)) * time.Millisecond,
				Origins:   strings.Split(d.Var("FRONTEND_ORIGINS"), ","),
				Proxies:   proxies,
				Now:       d.Now,
				Random:    d.Random,
				NewID:     d.NewID,
				Logger:    d.Logger,
				Function:  d.Vars["AWS_LAMBDA_FUNCTION_NAME"],

				OriginSecrets: secrets,
			}).Serve)
		},
	}}
}
