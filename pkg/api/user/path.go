package user

import (
	"net/http"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/lambdahttp"
)

// PathID returns the id of a service account that the path parameter id contains. Its error is NoServiceAccount.
func PathID(r *http.Request) (int64, error) {
	id, ok := access.ParseAccountID(r.PathValue("id"))
	if !ok {
		return 0, NoServiceAccount(r)
	}
	return id, nil
}

// NameServiceAccount returns err. If its kind is NotFound, it returns NoServiceAccount instead, which has the id as the
// client sent it.
func NameServiceAccount(r *http.Request, err error) error {
	if apierror.KindOf(err) == apierror.NotFound {
		return NoServiceAccount(r)
	}
	return err
}

// NoServiceAccount returns the 404 for a path parameter id that is not the id of a service account.
func NoServiceAccount(r *http.Request) error {
	sent, _ := lambdahttp.PathParam(r, "id")
	return apierror.Errorf(apierror.NotFound, "There is no service account with the id %q.", apierror.Echo(sent))
}
