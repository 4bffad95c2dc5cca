package user

import (
	"math"
	"net/http"
	"strconv"
	"strings"

	"toggleadmin/pkg/platform/access"
	"toggleadmin/pkg/platform/apierror"
	"toggleadmin/pkg/platform/apigateway"
	"toggleadmin/pkg/platform/lambdahttp"
)

// PathID returns the id of a service account that the path parameter id contains. Its error is NoServiceAccount.
func PathID(r *http.Request) (int64, error) {
	id, ok := ParseID(r.PathValue("id"))
	if !ok {
		return 0, NoServiceAccount(r)
	}
	return id, nil
}

// ParseID reads the id of an account, a role or a group in a path: what access.ParseID accepts or, of an id of 1000000
// or more, the spelling of clients that handle ids as floating-point numbers, such as 1e+06 (api/openapi.yaml).
func ParseID(text string) (id int64, ok bool) {
	if id, ok = access.ParseID(text); ok {
		return id, true
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || number != math.Trunc(number) || number < 1 || number > access.MaxID ||
		text != strconv.FormatFloat(number, 'g', -1, 64) {
		return 0, false
	}
	return int64(number), true
}

// QueryIDs returns the ids in a query parameter: roles=4,5, or roles=4&roles=5. things are what the ids identify.
func QueryIDs[T ~int64](r *http.Request, parameter, things string) (ids []T, err error) {
	for _, value := range apigateway.RequestFrom(r.Context()).Query[parameter] {
		for text := range strings.SplitSeq(value, ",") {
			id, ok := access.ParseID(strings.TrimSpace(text))
			if !ok {
				return nil, apierror.Invalid(apierror.At("/query/"+parameter, "must be ids of %s, separated by commas; you sent %q",
					things, apierror.Echo(value)))
			}
			ids = append(ids, T(id))
		}
	}
	return ids, nil
}

// NameServiceAccount returns err. If its kind is NotFound, it returns NoServiceAccount instead, which has the id as the
// client sent it.
func NameServiceAccount(r *http.Request, err error) error {
	if apierror.KindOf(err) == apierror.NotFound {
		return NoServiceAccount(r)
	}
	return err
}

// NoPerson returns the 404 for a path parameter id that is not the id of a person.
func NoPerson(r *http.Request) error {
	sent, _ := lambdahttp.PathParam(r, "id")
	return apierror.Errorf(apierror.NotFound, "There is no person with the id %q.", apierror.Echo(sent))
}

// NoServiceAccount returns the 404 for a path parameter id that is not the id of a service account.
func NoServiceAccount(r *http.Request) error {
	sent, _ := lambdahttp.PathParam(r, "id")
	return apierror.Errorf(apierror.NotFound, "There is no service account with the id %q.", apierror.Echo(sent))
}
