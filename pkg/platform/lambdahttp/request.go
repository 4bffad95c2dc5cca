package lambdahttp

import (
	"errors"
	"net/http"

	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/apigateway"
)

// ErrPathParam reports a path parameter that is missing, has a broken escape, is not UTF-8, or is too long.
var ErrPathParam = errors.New("invalid path parameter")

// PathParam returns r.PathValue(name). If there is none, it returns ErrPathParam and the text that the client sent.
func PathParam(r *http.Request, name string) (string, error) {
	if value := r.PathValue(name); value != "" {
		return value, nil
	}
	return apigateway.RequestFrom(r.Context()).PathParameters[name], ErrPathParam
}

// BadPathParam returns the 400 error for a path parameter for which PathParam returned ErrPathParam and the text sent.
func BadPathParam(name, sent string) *apierror.Error {
	return apierror.Invalid(apierror.At("/params/"+name,
		"must be UTF-8, percent-encoded and at most %d characters long", maxPathValue).Sent(sent))
}
