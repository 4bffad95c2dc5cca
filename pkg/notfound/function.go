// Package notfound serves all requests whose path or method the API does not have.
package notfound

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/app"
)

// NewFunction returns the handler of functions/not-found: a 404 with or without a credential (contract section 1).
func NewFunction(env *app.Env) (lambda.Handler, error) {
	return env.API(serve), nil
}

func serve(http.ResponseWriter, *http.Request) error {
	return apierror.New(apierror.NotFound, apierror.TextPathNotAvailable)
}
