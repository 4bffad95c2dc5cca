package user

import (
	"encoding/json"
	"net/http"
	"regexp"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/jsonbody"
	"toggleadmin/pkg/platform/lambdahttp"
)

// PathID returns the id of a service account that the path parameter id contains. Its error is NoServiceAccount.
func PathID(r *http.Request) (int64, error) {
	id, ok := parseID(r.PathValue("id"))
	if !ok {
		return 0, NoServiceAccount(r)
	}
	return id, nil
}

// number is a JSON number without a sign.
var number = regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// parseID reads the id of an account in a path: a JSON number without a sign whose exact value is an integer from 1 to
// access.MaxID, such as 4, 4.0 or 1e+06 (api/openapi.yaml).
func parseID(text string) (id int64, ok bool) {
	if !number.MatchString(text) {
		return 0, false
	}
	id, ok = jsonbody.Integer(json.Number(text))
	if !ok || id < 1 || id > access.MaxID {
		return 0, false
	}
	return id, true
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
