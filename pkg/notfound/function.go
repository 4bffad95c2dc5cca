// Package notfound answers every path that the API does not have, and every method that a path does not have.
package notfound

import (
	"net/http"

	"github.com/aws/aws-lambda-go/lambda"

	"toggleadmin/pkg/apierror"
	"toggleadmin/pkg/app"
)

// serve answers 404, with or without a credential (contract, section 1).
func serve(http.ResponseWriter, *http.Request) error {
	return apierror.New(apierror.NotFound, apierror.TextPathNotAvailable)
}

// NewFunction wires functions/not-found.
func NewFunction(env *app.Env) (lambda.Handler, error) {
	return env.API(serve), nil
}
