package app

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/platform/apierror"
)

// NewNotFoundFunction returns the handler of functions/not-found: a 404 for every path and method that the API does not
// have, with or without a credential (api/openapi.yaml, Errors).
func NewNotFoundFunction(env *Env) (lambda.Handler, error) {
	return env.API(func(http.ResponseWriter, *http.Request) error {
		return apierror.New(apierror.NotFound, apierror.TextPathNotAvailable)
	}), nil
}
