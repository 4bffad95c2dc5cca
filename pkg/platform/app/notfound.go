package app

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/apierror"
)

// Functions returns the function not-found: a 404 for every path and method that the API does not have, with or without
// a credential (api/openapi.yaml, Errors).
func Functions() []Function {
	return []Function{{
		Name: "not-found",
		Handler: func(d *Deps) lambda.Handler {
			return d.API(func(http.ResponseWriter, *http.Request) error {
				return apierror.New(apierror.NotFound, apierror.TextPathNotAvailable)
			})
		},
	}}
}
