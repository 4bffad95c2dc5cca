package app

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// Functions returns the functions of no domain. Both respond with or without a credential.
//
//   - not-found: a 404 for every path and method that the API does not have (api/openapi.yaml, Errors)
//   - health: that the function can be reached
func Functions() []Function {
	return []Function{
		{
			Name: "not-found",
			Handler: func(d *Deps) lambda.Handler {
				return d.API(func(http.ResponseWriter, *http.Request) error {
					return apierror.New(apierror.NotFound, apierror.TextPathNotAvailable)
				})
			},
		},
		{
			Name: "health",
			Handler: func(d *Deps) lambda.Handler {
				return d.API(func(w http.ResponseWriter, _ *http.Request) error { return lambdahttp.WriteHealth(w) })
			},
		},
	}
}
